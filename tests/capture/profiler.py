"""A server of `tensorflow.ProfilerService` that answers as a test wants."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc

Answer = Callable[[bytes, grpc.ServicerContext], bytes]


class _Service(grpc.GenericRpcHandler):
    def __init__(self, answers: dict[str, Answer]) -> None:
        self._answers = answers

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        answer = self._answers.get(handler_call_details.method.rpartition("/")[2])
        return None if answer is None else grpc.unary_unary_rpc_method_handler(answer)


@contextmanager
def profiler(**answers: Answer) -> Iterator[str]:
    """The address of a server with these methods."""
    server = grpc.server(ThreadPoolExecutor(4), handlers=[_Service(answers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def failing(code: grpc.StatusCode, details: str = "") -> Answer:
    """An answer that is this error."""

    def answer(_request: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort(code, details)
        raise AssertionError

    return answer
