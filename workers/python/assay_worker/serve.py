"""Requests of the host → the engine → answers."""
import sys
import time
import traceback

from .check_inputs import check_inputs
from .engine import Model, NotHere, NotInstalled, StageFailure
from .frames import HostGone, ProtocolBroken, receive
from .tensors import byte_length, decode, send_tensor

PROTOCOL = 1
# In the name of a tensor: what goes into a module.
INPUTS = ":in"
METHOD_NOT_FOUND = -32601
FAILED = -32000


def serve(engine, channel, remedy):
    """Serves until the host ends the channel. remedy: how to install what the engine lacks."""
    desk = Desk(engine, channel, remedy)
    try:
        while True:
            message, _ = channel.read()
            if "id" in message:
                channel.write({"id": message["id"], **answer(desk, message)})
    except HostGone:
        return


def answer(desk, message):
    method = desk.methods.get(message["method"])
    if method is None:
        return {"error": {"code": METHOD_NOT_FOUND, "message": f'unknown method "{message["method"]}"'}}
    try:
        return {"result": method(message["id"], message.get("params") or {})}
    except (HostGone, ProtocolBroken):
        raise
    # Some tools that an engine calls end with sys.exit.
    except (Exception, SystemExit) as error:
        return {"error": wire_error(error, message["method"])}


def wire_error(error, method):
    if isinstance(error, StageFailure):
        return {"code": FAILED, "message": str(error), "data": {**error.detail, "stage": error.stage}}
    traceback.print_exc(file=sys.stderr)
    stage = "run" if method in ("run", "decode.start", "decode.step") else "compile"
    return {"code": FAILED, "message": one_line(error), "data": {"stage": stage}}


def one_line(error):
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def listed_once(outputs):
    """A model may list an output twice."""
    seen = set()
    for name, value in outputs:
        if name not in seen:
            seen.add(name)
            yield name, value


class Desk:
    """The methods of the protocol over one engine and its sessions."""

    def __init__(self, engine, channel, remedy):
        self.engine, self.channel, self.remedy = engine, channel, remedy
        self.sessions, self.last_session = {}, 0
        self.methods = {"hello": self.hello, "open": self.open, "run": self.run, "close": self.close,
                        "decode.start": self.decode_start, "decode.step": self.decode_step,
                        "warm": self.warm, "decode.warm": self.decode_warm, "weights": self.weights}
        if hasattr(engine, "form"):
            self.methods["form"] = self.form

    def hello(self, request, params):
        head = {"protocols": [PROTOCOL], "runtime": self.engine.name}
        try:
            return {**head, "limits": {}, **self.engine.probe(params["device"])}
        except NotHere as reason:
            hint = f"; {self.remedy}" if self.remedy and isinstance(reason, NotInstalled) else ""
            return {**head, "available": False, "reason": f"{reason}{hint}"}

    def open(self, request, params):
        model = self.receive_model(request, params["model"])
        started = time.perf_counter()
        session = self.engine.open(model, params["target"], params.get("taps"))
        duration_ms = (time.perf_counter() - started) * 1e3
        self.last_session += 1
        self.sessions[self.last_session] = session
        return {"session": self.last_session, "inputs": session.inputs, "outputs": session.outputs,
                "detail": session.detail, "durationMs": duration_ms, **({"warms": True} if session.warms else {})}

    def form(self, request, params):
        model = self.receive_model(request, params["model"])
        return {"file": self.engine.form(model, params["target"], params["form"], params["folder"], params["weights"])}

    def warm(self, request, params):
        session, inputs, replayed = self.receive_run(request, params)
        return session.warm(inputs, replayed)

    def decode_warm(self, request, params):
        inputs = self.receive_values(request, params["values"])
        return self.decoder(params).decode_warm(inputs, params)

    def weights(self, request, params):
        session = self.session(params)
        if not hasattr(session, "weights"):
            raise StageFailure("run", f"{self.engine.name} does not list weights")
        return {"weights": session.weights()}

    def run(self, request, params):
        session, inputs, replayed = self.receive_run(request, params)
        if hasattr(session, "stream"):
            return self.stream(request, session, inputs, replayed)
        outputs = session.run(inputs)
        kinds = {spec["name"]: spec["kind"] for spec in session.outputs}
        values = [self.send_value(request, name, value, kinds.get(name)) for name, value in listed_once(outputs.values)]
        return {"durationMs": outputs.duration_ms, "values": values}

    def receive_run(self, request, params):
        """The session, its inputs, and tensors for inputs of its modules."""
        inputs = self.receive_values(request, params["values"])
        session = self.session(params)
        replayed = {name: inputs.pop(name) for name in list(inputs) if session.replays and INPUTS in name}
        check_inputs(session.inputs, [value for value in params["values"] if value["name"] not in replayed], inputs)
        return session, inputs, replayed

    def stream(self, request, session, inputs, replayed):
        values = {}

        def give(name, value):
            if name in values:
                raise StageFailure("run", f'two tensors of this run are named "{name}"')
            values[name] = self.send_value(request, name, value, "tensor")

        answer = session.stream(inputs, give, replayed)
        return {**answer, "values": list(values.values())}

    def decode_start(self, request, params):
        inputs = self.receive_values(request, params["values"])
        return self.decoder(params).decode_start(inputs, params)

    def decode_step(self, request, params):
        return self.decoder(params).decode_step(params, lambda name, value: send_tensor(self.channel, request, name, value))

    def decoder(self, params):
        session = self.session(params)
        if not hasattr(session, "decode_start"):
            raise StageFailure("run", f"{self.engine.name} does not decode")
        return session

    def close(self, request, params):
        session = self.sessions.pop(params["session"], None)
        if session:
            session.close()
        return {}

    def session(self, params):
        session = self.sessions.get(params["session"])
        if session is None:
            raise StageFailure("run", f"there is no session {params['session']}")
        return session

    def receive_model(self, request, model):
        if "path" in model:
            return Model(model["format"], path=model["path"])
        if "blob" in model:
            raise StageFailure("compile", "this worker reads models from files and keeps no blobs")
        _, data = receive(self.channel, "bytes", request, lambda params: model["byteLength"])
        return Model(model["format"], data=bytes(data), folder=model["folder"])

    def receive_values(self, request, values):
        return {value["name"]: self.receive_value(request, value) for value in values}

    def receive_value(self, request, value):
        if value["kind"] == "tensor":
            return self.receive_tensor(request)
        tensors = [self.receive_tensor(request) for _ in range(value["length"])]
        if value["kind"] == "sequence":
            return tensors
        return tensors[0] if tensors else None

    def receive_tensor(self, request):
        params, data = receive(self.channel, "tensor", request, lambda params: byte_length(params["dtype"], params["shape"]))
        return decode(params["dtype"], params["shape"], data)

    def send_value(self, request, name, value, declared):
        """Sends one output; says what it is. An optional that holds a sequence goes as that sequence."""
        if isinstance(value, list):
            for i, element in enumerate(value):
                send_tensor(self.channel, request, f"{name}#{i}", element)
            return {"name": name, "kind": "sequence", "length": len(value)}
        if value is not None and declared != "optional":
            send_tensor(self.channel, request, name, value)
            return {"name": name, "kind": "tensor", "length": 1}
        if value is not None:
            send_tensor(self.channel, request, f"{name}#0", value)
        return {"name": name, "kind": "optional", "length": 0 if value is None else 1}
