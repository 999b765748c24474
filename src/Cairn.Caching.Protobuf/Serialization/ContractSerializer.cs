using Cairn.Caching.Protobuf.Contracts;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Hybrid;
using ProtoBuf;
using ProtoBuf.Meta;

namespace Cairn.Caching.Protobuf.Serialization;

/// <summary>Serializes a type with a contract, or a list or dictionary of such a type, by protobuf-net.</summary>
[RequiresUnreferencedCode(ContractModel.Reason)]
[RequiresDynamicCode(ContractModel.Reason)]
[UnconditionalSuppressMessage("Trimming", "IL2091", Justification = "The attribute above says so for the whole class.")]
internal sealed class ContractSerializer<T>(RuntimeTypeModel model) : IHybridCacheSerializer<T>, ICairnSerializer
{
    public CairnFormat Format => CairnFormat.Protobuf;

    // protobuf-net writes to a stream twice as fast as to a buffer writer, and only there it notices that an object contains itself. On the way to
    // a buffer writer, such an object overflows the stack.
    public void Serialize(T value, IBufferWriter<byte> target)
    {
        using var stream = new BufferStream(target);
        model.Serialize(stream, value);
    }

    public T Deserialize(ReadOnlySequence<byte> source)
    {
        try
        {
            return model.Deserialize<T>(source);
        }
        catch (Exception failure) when (failure is ProtoException or InvalidOperationException or EndOfStreamException or OverflowException or ArgumentException or FormatException)
        {
            throw new InvalidDataException($"The stored bytes cannot be read as {typeof(T)}: {failure.Message}", failure);
        }
    }
}
