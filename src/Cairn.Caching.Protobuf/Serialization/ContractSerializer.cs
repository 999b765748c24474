using System.Buffers;
using System.Runtime.CompilerServices;
using Cairn.Caching.Protobuf.Messages;
using Google.Protobuf;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Protobuf.Serialization;

/// <summary>Reads and writes top-level messages through Google.Protobuf.</summary>
internal static class WholeMessage
{
    public static void Write(IMessage message, IBufferWriter<byte> target)
    {
        Nesting.Begin();
        message.WriteTo(target);
    }

    public static void Read(IMessage message, in ReadOnlySequence<byte> source)
    {
        Copies.Begin(source.Length);
        if (source.IsSingleSegment)
        {
            message.MergeFrom(source.FirstSpan);
        }
        else
        {
            message.MergeFrom(source);
        }
    }
}

/// <summary>Serializes a type with a contract.</summary>
internal sealed class ContractSerializer<T>(MessageContract<T> contract) : IHybridCacheSerializer<T>, ICairnSerializer
{
    public CairnFormat Format => CairnFormat.Protobuf;

    public void Serialize(T value, IBufferWriter<byte> target)
    {
        MessageAdapter<T> adapter = MessageAdapter<T>.Take(contract, value);
        WholeMessage.Write(adapter, target);
        adapter.GiveBack();
    }

    public T Deserialize(ReadOnlySequence<byte> source)
    {
        MessageAdapter<T> adapter = MessageAdapter<T>.Take(contract, contract.Create());
        WholeMessage.Read(adapter, source);
        T value = adapter.Value;
        adapter.GiveBack();
        return value;
    }
}

/// <summary>Serializes a list or dictionary of a type with a contract.</summary>
internal sealed class CollectionSerializer<T>(MessageContract<StrongBox<T>> contract, Func<T> empty) : IHybridCacheSerializer<T>, ICairnSerializer
{
    private readonly ContractSerializer<StrongBox<T>> _serializer = new(contract);

    public CairnFormat Format => CairnFormat.Protobuf;

    public void Serialize(T value, IBufferWriter<byte> target) => _serializer.Serialize(new StrongBox<T>(value), target);

    // An empty collection has no bytes, so the member stays null.
    public T Deserialize(ReadOnlySequence<byte> source) => _serializer.Deserialize(source).Value ?? empty();
}

/// <summary>Serializes a type that protoc generated.</summary>
internal sealed class GeneratedSerializer<T>(Func<T> create) : IHybridCacheSerializer<T>, ICairnSerializer
{
    public CairnFormat Format => CairnFormat.Protobuf;

    public void Serialize(T value, IBufferWriter<byte> target) => WholeMessage.Write((IMessage)value!, target);

    public T Deserialize(ReadOnlySequence<byte> source)
    {
        T message = create();
        WholeMessage.Read((IMessage)message!, source);
        return message;
    }
}

/// <summary>Stands for a type that is marked as a message but cannot be one. Each use throws an exception with the reason.</summary>
internal sealed class RefusedSerializer<T>(string reason) : IHybridCacheSerializer<T>, ICairnSerializer
{
    public string Reason => reason;

    public CairnFormat Format => CairnFormat.Protobuf;

    public void Serialize(T value, IBufferWriter<byte> target) => throw new InvalidOperationException(reason);

    public T Deserialize(ReadOnlySequence<byte> source) => throw new InvalidOperationException(reason);
}
