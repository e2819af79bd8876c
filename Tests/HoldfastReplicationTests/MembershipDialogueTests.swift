import HoldfastProtocol
import HoldfastReplication
import Testing

/// What nodes come to believe, word by word. The time is the world's, in milliseconds; all begins at 2,000, when all
/// know each other.
@Suite struct MembershipDialogueTests {
    private func expect(_ scene: MembershipScene, _ text: String, _ place: SourceLocation = #_sourceLocation) {
        #expect(scene.lines.joined(separator: "\n") == text, sourceLocation: place)
    }

    @Test func aKilledProcessIsDeadAtOnce() {
        var scene = MembershipScene("a b c")
        scene.kill("a")
        scene.run(for: 10_000)
        expect(
            scene,
            """
            2003 b: dead a
            2003 c: dead a
            8003 b: no longer listed a
            8003 c: no longer listed a
            """)
    }

    @Test func aProcessThatIsRestartedAtOnceIsAnother() {
        var scene = MembershipScene("a b c")
        scene.kill("a")
        scene.run(for: 100)
        scene.start("a")
        scene.run(for: 2_000)
        expect(
            scene,
            """
            2003 b: dead a
            2003 c: dead a
            2103 b: listed a
            2103 b: no longer listed old a
            2103 b: lost old a
            2103 c: listed a
            2103 c: no longer listed old a
            2103 c: lost old a
            2103 a: listed b
            2103 a: listed c
            2103 a: may tell
            2402 a: may swap
            """)
    }

    @Test func aMachineThatVanishesIsSilentAfterASecondAndLostAfterHalfAMinuteWithoutRegistration() {
        var scene = MembershipScene("a b c")
        scene.vanish("a")
        scene.run(for: 45_000)
        expect(
            scene,
            """
            2804 c: silent a
            2804 b: silent a
            8003 b: no longer listed a
            8003 c: no longer listed a
            39003 b: lost a
            39003 c: lost a
            """)
    }

    @Test func theOtherOfTwoDecidesAlone() {
        var scene = MembershipScene("a b")
        scene.vanish("a")
        scene.run(for: 45_000)
        expect(
            scene,
            """
            2802 b: silent a
            8003 b: no longer listed a
            39003 b: lost a
            """)
    }

    @Test func aProcessThatStoodStillBlamesNobodyAndSwapsNothingUntilItIsAnswered() {
        var scene = MembershipScene("a b c")
        scene.pause("a", for: 4_000)
        scene.run(for: 8_000)
        expect(
            scene,
            """
            2804 c: silent a
            2804 b: silent a
            6000 a: must not swap
            6002 b: no longer silent a
            6002 c: no longer silent a
            6202 a: may swap
            """)
    }

    @Test func whoIsHeardByNobodySwapsNothing() {
        var scene = MembershipScene("a b c")
        scene.cut("a", "b", oneWay: true)
        scene.cut("a", "c", oneWay: true)
        scene.run(for: 4_000)
        scene.heal()
        scene.run(for: 2_000)
        expect(
            scene,
            """
            2800 a: must not swap
            2804 c: silent a
            2804 b: silent a
            6002 b: no longer silent a
            6002 c: no longer silent a
            6202 a: may swap
            """)
    }

    @Test func whoHearsNobodySwapsNothing() {
        var scene = MembershipScene("a b c")
        scene.cut("b", "a", oneWay: true)
        scene.cut("c", "a", oneWay: true)
        scene.run(for: 4_000)
        expect(scene, "2600 a: must not swap")
    }

    @Test func aCutBetweenTwoIsNobodysSilence() {
        var scene = MembershipScene("a b c")
        scene.cut("a", "b")
        scene.run(for: 10_000)
        expect(scene, "")
    }

    @Test func twoNodesThatAreCutMayBothSwap() {
        var scene = MembershipScene("a b")
        scene.cut("a", "b")
        scene.run(for: 4_000)
        scene.heal()
        scene.run(for: 2_000)
        expect(
            scene,
            """
            2802 a: silent b
            2802 b: silent a
            6002 b: no longer silent a
            6002 a: no longer silent b
            """)
        #expect(scene.view("a").touch == 1, "the coordinator showed both their registrations")
    }

    @Test func theMinorityOfThree() {
        var scene = MembershipScene("a b c")
        scene.cut("a", "b")
        scene.cut("a", "c")
        scene.away = ["a"]
        scene.run(for: 45_000)
        #expect(scene.view("a").touch == 1)
        scene.heal()
        scene.away = []
        scene.run(for: 2_000)
        expect(
            scene,
            """
            2600 a: must not swap
            2804 c: silent a
            2804 b: silent a
            8003 b: no longer listed a
            8003 c: no longer listed a
            16600 a: must not tell
            39003 b: lost a
            39003 c: lost a
            47002 b: no longer silent a
            47002 b: no longer lost a
            47002 c: no longer silent a
            47002 c: no longer lost a
            47003 a: may tell
            47003 b: listed a
            47003 c: listed a
            47202 a: may swap
            """)
        #expect(scene.view("a").touch == 2, "its shards may have begun anew meanwhile")
    }

    @Test func whoIsOnlyCutOffFromTheCoordinatorPlaysOn() {
        var scene = MembershipScene("a b c")
        scene.away = ["a"]
        scene.run(for: 45_000)
        expect(
            scene,
            """
            11003 b: no longer listed a
            11003 c: no longer listed a
            """)
        #expect(scene.mayTell("a"))
    }

    @Test func halvesOfFourMayBothSwap() {
        var scene = MembershipScene("a b c d")
        for near in ["a", "b"] { for far in ["c", "d"] { scene.cut(near, far) } }
        scene.run(for: 3_000)
        for near in ["a", "b"] { #expect(scene.view(near).silent == [scene.id("c"), scene.id("d")]) }
        for far in ["c", "d"] { #expect(scene.view(far).silent == [scene.id("a"), scene.id("b")]) }
        for name in ["a", "b", "c", "d"] { #expect(scene.view(name).maySwap) }
    }

    /// The coordinator is on the side of two, and the three on the other side are more than half: they play on, so that
    /// nothing of theirs may begin anew. If only the registered ones were counted, the two would be all.
    @Test func aMajorityWithoutTheCoordinatorIsNotLost() {
        var scene = MembershipScene("a b c d e")
        for near in ["a", "b", "c"] { for far in ["d", "e"] { scene.cut(near, far) } }
        scene.away = ["a", "b", "c"]
        scene.run(for: 60_000)
        for near in ["a", "b", "c"] { #expect(scene.mayTell(near)) }
        for far in ["d", "e"] { #expect(scene.view(far).lost.isEmpty) }
    }

    /// Nor when their registrations end one after another: the first to go still answers the others.
    @Test func aMajorityThatLosesTheCoordinatorOneByOneIsNotLost() {
        var scene = MembershipScene("a b c d e")
        for near in ["a", "b", "c"] { for far in ["d", "e"] { scene.cut(near, far) } }
        for near in ["a", "b", "c"] {
            scene.away.insert(near)
            scene.run(for: 10_000)
        }
        scene.run(for: 60_000)
        for near in ["a", "b", "c"] { #expect(scene.mayTell(near)) }
        for far in ["d", "e"] { #expect(scene.view(far).lost.isEmpty) }
    }

    @Test func aMinorityWithoutTheCoordinatorIsLost() {
        var scene = MembershipScene("a b c d e")
        for near in ["a", "b"] { for far in ["c", "d", "e"] { scene.cut(near, far) } }
        scene.away = ["a", "b"]
        scene.run(for: 45_000)
        for near in ["a", "b"] { #expect(!scene.mayTell(near)) }
        for far in ["c", "d", "e"] { #expect(scene.view(far).lost == [scene.id("a"), scene.id("b")]) }
    }

    /// Those that came later, when it could not know them, do not count against it.
    @Test func newcomersGiveNobodyUpWhoNeverKnewThem() {
        var scene = MembershipScene("a b c")
        scene.cut("c", "a")
        scene.cut("c", "b")
        scene.away = ["a", "b"]
        scene.run(for: 9_000)
        scene.start("d")
        scene.start("e")
        for new in ["d", "e"] {
            for old in ["a", "b"] { scene.cut(new, old) }
            scene.name([scene.id("a"), scene.id("b")], at: new)
        }
        scene.run(for: 50_000)
        #expect(scene.mayTell("a") && scene.mayTell("b"))
        #expect(scene.view("c").lost.isEmpty)
    }

    @Test func aNewNodeCountsFromItsOwnBeginning() {
        var scene = MembershipScene("a b c")
        let gone = scene.id("a")
        scene.vanish("a")
        scene.run(for: 20_000)
        scene.kill("b")
        scene.start("b")
        scene.cut("a", "b")
        scene.name([gone], at: "b")
        scene.run(for: 25_000)
        #expect(!scene.view("b").isLost(gone) && !scene.view("c").isLost(gone))
        scene.run(for: 8_000)
        #expect(scene.view("b").isLost(gone) && scene.view("c").isLost(gone))
    }

    @Test func whatANodeDidNotSeeItDoesNotCount() {
        var scene = MembershipScene("a b")
        scene.vanish("a")
        scene.run(for: 20_000)
        scene.pause("b", for: 60_000)
        scene.run(for: 80_000)
        #expect(scene.view("b").lost.isEmpty, "it has seen 34 s of it, but not in a row")
        scene.run(for: 12_000)
        #expect(scene.view("b").lost == [scene.id("a")])
    }

    @Test func afterALongPauseNothingIsToldUntilThereIsNews() {
        var scene = MembershipScene("a b c")
        scene.pause("a", for: 20_000)
        scene.run(for: 20_000)
        #expect(!scene.mayTell("a"), "before anything else happens")
        scene.run(for: 2_000)
        #expect(scene.mayTell("a"))
        #expect(scene.view("a").touch == 2)
    }

    @Test func theOperatorsWord() {
        var scene = MembershipScene("a b c")
        scene.vanish("a")
        scene.run(for: 2_000)
        scene.lines = []
        scene.forget("a", at: "b")
        scene.run(for: 100)
        expect(scene, "4000 b: no longer silent a\n4000 b: lost a")
    }
}
