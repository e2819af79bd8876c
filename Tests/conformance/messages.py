"""Both encodings of holdfast.proto behind plain dicts, through classes that `protoc` generated.

A decoded message is a dict with lowerCamelCase keys: integers are ints, bytes are bytes, scalars and lists
stand even at their default, absent messages and unset members of a oneof are missing.
"""

import base64
import importlib
import json
import pathlib
import subprocess
import sys

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as F

WIDE = {F.CPPTYPE_INT64, F.CPPTYPE_UINT64}
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
pb = None


def generate(directory):
    """Generates the Protobuf classes into `directory` and loads them."""
    global pb
    candidates = [ROOT / "Sources/HoldfastProtocol", ROOT.parent / "shared/spec", pathlib.Path("/work/shared/spec")]
    source = next((c for c in candidates if (c / "holdfast.proto").exists()), None)
    if source is None:
        raise RuntimeError(f"holdfast.proto is in none of {candidates}")
    subprocess.run(
        ["protoc", f"-I{source}", f"--python_out={directory}", str(source / "holdfast.proto")], check=True, timeout=60
    )
    sys.path.insert(0, str(directory))
    pb = importlib.import_module("holdfast_pb2")
    return pb


class Violation(AssertionError):
    """The server broke a rule that holds for every message."""


def is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def to_dict(message):
    out = {}
    for field in message.DESCRIPTOR.fields:
        name, value = field.json_name, getattr(message, field.name)
        if is_map(field):
            out[name] = dict(value)
        elif field.label == F.LABEL_REPEATED:
            out[name] = [to_dict(v) if field.message_type else v for v in value]
        elif field.message_type is not None:
            if message.HasField(field.name):
                out[name] = to_dict(value)
        elif field.containing_oneof is None or message.HasField(field.name):
            out[name] = value
    return out


def expected_json(message, top=True):
    """What the proto's header says the server's JSON holds for this message."""
    out = {}
    for field in message.DESCRIPTOR.fields:
        name, value = field.json_name, getattr(message, field.name)
        if is_map(field):
            out[name] = dict(value)
        elif field.label == F.LABEL_REPEATED:
            out[name] = [json_value(field, v) for v in value]
        elif field.message_type is not None or field.containing_oneof is not None:
            if message.HasField(field.name):
                out[name] = json_value(field, value)
        elif not (top and not value):
            out[name] = json_value(field, value)
    return out


def json_value(field, value):
    if field.message_type is not None:
        return expected_json(value, top=False)
    if field.cpp_type in WIDE:
        return str(value)
    if field.type == F.TYPE_BYTES:
        return base64.b64encode(value).decode()
    return value


def without_empty_maps(value):
    if isinstance(value, dict):
        return {k: without_empty_maps(v) for k, v in value.items() if not (k in ("matchParams", "results") and v == {})}
    if isinstance(value, list):
        return [without_empty_maps(v) for v in value]
    return value


def no_doubles(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Violation(f"a key twice in the server's JSON: {names}")
    return dict(pairs)


def decode(encoding, payload):
    """A ServerMessage from the wire; raises Violation when the encoding is not what the schema says."""
    message = pb.ServerMessage()
    if encoding == "protobuf":
        try:
            message.ParseFromString(payload)
        except Exception as error:
            raise Violation(f"not a ServerMessage: {payload[:200]!r}: {error}") from None
        return message
    try:
        value = json.loads(payload.decode("utf-8"), object_pairs_hook=no_doubles)
        json_format.ParseDict(value, message)
    except (ValueError, json_format.ParseError) as error:
        raise Violation(f"not a ServerMessage in JSON: {payload[:300]!r}: {error}") from None
    wanted = expected_json(message)
    if without_empty_maps(value) != without_empty_maps(wanted):
        raise Violation(f"not the JSON that the proto's header describes: came {value}, wanted {wanted}")
    return message


def json_ready(value):
    if isinstance(value, dict):
        return {k: json_ready(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(v) for v in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    return value


def encode(encoding, message):
    """A ClientMessage (a dict) as bytes for the wire."""
    ready = json_ready(message)
    if encoding == "json":
        return json.dumps(ready, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return json_format.ParseDict(ready, pb.ClientMessage()).SerializeToString()
