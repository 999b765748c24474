namespace Cairn.Benchmarks.Formats;

/// <summary>The formats that are compared.</summary>
internal enum ValueFormat
{
    Json,
    Xml,
    BinaryXml,
    Protobuf,
    MemoryPack,
    MessagePack,
}
