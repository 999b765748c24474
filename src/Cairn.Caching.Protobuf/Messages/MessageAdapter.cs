using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>
/// Presents a value and its contract to Google.Protobuf as a message. Each thread keeps its free adapters in a list; <see cref="GiveBack"/>
/// returns one.
/// </summary>
internal sealed class MessageAdapter<T> : IBufferMessage
{
    [ThreadStatic]
    private static MessageAdapter<T>? t_free;

    private MessageContract<T> _contract = null!;
    private MessageAdapter<T>? _next;

    private MessageAdapter()
    {
    }

    public T Value = default!;

    public MessageDescriptor Descriptor => throw new NotSupportedException("There is no schema behind this message.");

    public static MessageAdapter<T> Take(MessageContract<T> contract, T value)
    {
        MessageAdapter<T> adapter = t_free ?? new MessageAdapter<T>();
        t_free = adapter._next;
        adapter._next = null;
        adapter._contract = contract;
        adapter.Value = value;
        return adapter;
    }

    public void GiveBack()
    {
        Value = default!;
        _next = t_free;
        t_free = this;
    }

    public void InternalMergeFrom(ref ParseContext ctx) => _contract.Read(ref ctx, ref Value);

    public void InternalWriteTo(ref WriteContext ctx)
    {
        Nesting.Enter<T>();
        _contract.Write(ref ctx, ref Value);
        Nesting.Leave();
    }

    public int CalculateSize()
    {
        Nesting.Enter<T>();
        int size = _contract.Size(ref Value);
        Nesting.Leave();
        return size;
    }

    public void MergeFrom(CodedInputStream input) => throw new NotSupportedException();

    public void WriteTo(CodedOutputStream output) => throw new NotSupportedException();
}

/// <summary>Tracks the nesting depth of the message that this thread writes.</summary>
internal static class Nesting
{
    // Real messages are far less deep. Google.Protobuf has the same limit for reading.
    private const int MostLevels = 100;

    [ThreadStatic]
    private static int t_levels;

    /// <summary>Begins a message. Resets a depth that an earlier exception left behind.</summary>
    public static void Begin() => t_levels = 0;

    /// <summary>Enters a nested message of this type.</summary>
    public static void Enter<T>()
    {
        if (++t_levels > MostLevels)
        {
            t_levels = 0;
            ThrowTooDeep(typeof(T));
        }
    }

    public static void Leave() => t_levels--;

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowTooDeep(Type type) => throw new InvalidOperationException(
        $"A {type} is nested in more than {MostLevels} levels, or contains itself. Protocol buffers have no form for that.");
}
