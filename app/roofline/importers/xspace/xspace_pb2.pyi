from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Stat(_message.Message):
    __slots__ = ("metadata_id", "double_value", "uint64_value", "int64_value", "text_value", "bytes_value", "ref_value")
    METADATA_ID_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    TEXT_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    REF_VALUE_FIELD_NUMBER: _ClassVar[int]
    metadata_id: int
    double_value: float
    uint64_value: int
    int64_value: int
    text_value: bytes
    bytes_value: bytes
    ref_value: int
    def __init__(self, metadata_id: _Optional[int] = ..., double_value: _Optional[float] = ..., uint64_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., text_value: _Optional[bytes] = ..., bytes_value: _Optional[bytes] = ..., ref_value: _Optional[int] = ...) -> None: ...

class EventMetadata(_message.Message):
    __slots__ = ("id", "name", "display_name", "stats")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: bytes
    display_name: bytes
    stats: _containers.RepeatedCompositeFieldContainer[Stat]
    def __init__(self, id: _Optional[int] = ..., name: _Optional[bytes] = ..., display_name: _Optional[bytes] = ..., stats: _Optional[_Iterable[_Union[Stat, _Mapping]]] = ...) -> None: ...

class StatMetadata(_message.Message):
    __slots__ = ("id", "name")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: bytes
    def __init__(self, id: _Optional[int] = ..., name: _Optional[bytes] = ...) -> None: ...

class EventMetadataEntry(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: int
    value: EventMetadata
    def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[EventMetadata, _Mapping]] = ...) -> None: ...

class StatMetadataEntry(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: int
    value: StatMetadata
    def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[StatMetadata, _Mapping]] = ...) -> None: ...

class MemoryAccessBreakdown(_message.Message):
    __slots__ = ("memory_accessed",)
    MEMORY_ACCESSED_FIELD_NUMBER: _ClassVar[int]
    memory_accessed: _containers.RepeatedCompositeFieldContainer[MemoryAccessed]
    def __init__(self, memory_accessed: _Optional[_Iterable[_Union[MemoryAccessed, _Mapping]]] = ...) -> None: ...

class MemoryAccessed(_message.Message):
    __slots__ = ("operation_type", "memory_space", "bytes_accessed")
    OPERATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_SPACE_FIELD_NUMBER: _ClassVar[int]
    BYTES_ACCESSED_FIELD_NUMBER: _ClassVar[int]
    operation_type: int
    memory_space: int
    bytes_accessed: int
    def __init__(self, operation_type: _Optional[int] = ..., memory_space: _Optional[int] = ..., bytes_accessed: _Optional[int] = ...) -> None: ...
