using System.Diagnostics.CodeAnalysis;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>Reads and writes values of a type as messages. Each type has one contract, which is created at its first use.</summary>
internal sealed class MessageContract<T>
{
    private const int LongestTable = 256;

    private readonly Member<T>[] _members;

    // Maps a member's number to its index + 1, for numbers below the length of the table.
    private readonly int[] _byNumber;
    private readonly Func<T> _create;
    private readonly ContractCallbacks<T> _callbacks;

    public MessageContract(Member<T>[] members, Func<T> create, ContractCallbacks<T> callbacks)
    {
        _members = members;
        _create = create;
        _callbacks = callbacks;
        int largest = members.Length == 0 ? 0 : members[^1].Number;
        _byNumber = new int[Math.Min(largest + 1, LongestTable)];
        for (int i = 0; i < members.Length && members[i].Number < _byNumber.Length; i++)
        {
            _byNumber[members[i].Number] = i + 1;
        }
    }

    public static MessageContract<T> Instance => Holder.Value;

    /// <summary>Creates an object to read into.</summary>
    public T Create() => _create();

    /// <summary>Reads fields until the message ends. A repeated field replaces the earlier value, or is added to a list.</summary>
    public void Read(ref ParseContext input, ref T value)
    {
        _callbacks.OnReading(ref value);
        Member<T>[] members = _members;
        object?[]? pending = null;
        int expected = 0;
        uint tag;
        while ((tag = input.ReadTag()) != 0)
        {
            // Most messages have their fields in ascending order, and the items of a list are adjacent.
            int index = expected;
            if (index >= members.Length || members[index].Tag != tag)
            {
                if (expected > 0 && members[expected - 1].Tag == tag)
                {
                    index = expected - 1;
                }
                else
                {
                    if ((tag & 7) == (uint)WireFormat.WireType.EndGroup)
                    {
                        break;
                    }

                    index = Find(tag);
                    if (index < 0)
                    {
                        UnknownFieldSet.MergeFieldFrom(null, ref input);
                        continue;
                    }
                }
            }

            object? before = pending?[index];
            object? place = before;
            members[index].Read(ref input, ref value, ref place);
            if (place != before)
            {
                (pending ??= new object?[members.Length])[index] = place;
            }

            expected = index + 1;
        }

        for (int i = 0; pending is not null && i < pending.Length; i++)
        {
            if (pending[i] is { } place)
            {
                members[i].Finish(ref value, place);
            }
        }

        _callbacks.OnRead(ref value);
    }

    public void Write(ref WriteContext output, ref T value)
    {
        _callbacks.OnWriting(ref value);
        foreach (Member<T> member in _members)
        {
            member.Write(ref output, ref value);
        }

        _callbacks.OnWritten(ref value);
    }

    public int Size(ref T value)
    {
        int size = 0;
        foreach (Member<T> member in _members)
        {
            size += member.Size(ref value);
        }

        return size;
    }

    private int Find(uint tag)
    {
        int number = WireFormat.GetTagFieldNumber(tag);
        int index = number < _byNumber.Length ? _byNumber[number] - 1 : FindLarge(number);
        return index >= 0 && _members[index].Accepts(tag) ? index : -1;
    }

    // A separate method, so that the closure is allocated only when this path is taken.
    private int FindLarge(int number) => Array.FindIndex(_members, member => member.Number == number);

    private static class Holder
    {
        [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "Only members with the same attribute call this.")]
        [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "The same.")]
        public static MessageContract<T> Value { get; } = ContractBuilder.Build<T>();
    }
}
