using Cairn.Caching.Hashing;

namespace Cairn.Caching.Tagging;

// The state of a tag in the second level: its stamp, and the conditions under which entries with earlier stamps are still valid.
//
//   stamp   8 bytes, little-endian
//   first   8 bytes                  \  only if there are conditions
//   conditions, at most MaxConditions  > each: at 8 bytes, number of other tags 1 byte, 8 bytes for each of them
//
// The removal of the entries that carry several tags changes the state of one of them. The stamp is incremented, and a condition with the old
// stamp and the other tags is added:
//
//   I1  An entry with an earlier stamp is valid if the stamp is not before First, and if no condition of this or a later stamp (At) names only
//       tags that the entry carries.
//   I2  The number of conditions is limited. The oldest one is dropped, and First moves behind it: its entries become invalid. So a state can
//       invalidate more than was requested, and never less.
//   I3  A removal by the tag alone replaces the state by a random stamp without conditions.
//   I4  A condition names other tags by a hash that is the same in every process. Two names with the same hash count as one tag.
internal readonly record struct TagState(ulong Stamp, ulong First = 0, TagCondition[]? Conditions = null)
{
    public const int StampBytes = sizeof(ulong);
    public const int MaxConditions = 32;

    /// <summary>The most tags of a removal of the entries that carry all of them.</summary>
    public const int MostTags = 32;

    private const ulong Seed = 0x5441_4753_5441_5445; // Part of what is stored.

    /// <summary>Returns the number of a tag in conditions.</summary>
    public static ulong NumberOf(string tag) => Hash64.Of(tag, Seed);

    /// <summary>Returns whether an entry with these tags is valid if this tag had the stamp when its value was created.</summary>
    public bool Allows(ulong stamp, Tag[] tags)
    {
        if (stamp == Stamp)
        {
            return true;
        }

        if (Conditions is null || Stamp - stamp > Stamp - First)
        {
            return false;
        }

        foreach (TagCondition condition in Conditions)
        {
            if (Stamp - stamp >= Stamp - condition.At && condition.IsMetBy(tags))
            {
                return false; // I1
            }
        }

        return true;
    }

    /// <summary>Returns the state after the removal of all entries that carry this tag and the others.</summary>
    /// <param name="others">The numbers of the other tags, in ascending order.</param>
    public TagState Without(ulong[] others)
    {
        ulong first = Conditions is null ? Stamp : First;
        var conditions = (Conditions ?? []).Where(condition => !condition.Others.AsSpan().SequenceEqual(others)).ToList();
        if (conditions.Count == MaxConditions)
        {
            first = conditions[0].At + 1; // I2
            conditions.RemoveAt(0);
        }

        conditions.Add(new TagCondition(Stamp, others));
        return new TagState(Stamp + 1, first, [.. conditions]);
    }

    public byte[] ToBytes()
    {
        var bytes = new ArrayBufferWriter<byte>();
        Write(bytes, Stamp);
        if (Conditions is not null)
        {
            Write(bytes, First);
            foreach (TagCondition condition in Conditions)
            {
                Write(bytes, condition.At);
                bytes.Write([(byte)condition.Others.Length]);
                Array.ForEach(condition.Others, other => Write(bytes, other));
            }
        }

        return bytes.WrittenSpan.ToArray();
    }

    /// <summary>Reads a state. Returns false if the bytes are none.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out TagState state)
    {
        state = default;
        if (!TryTake(ref bytes, out ulong stamp) || stamp == Tag.Unknown)
        {
            return false;
        }

        state = new TagState(stamp);
        if (bytes.IsEmpty)
        {
            return true;
        }

        var conditions = new List<TagCondition>();
        if (!TryTake(ref bytes, out ulong first))
        {
            return false;
        }

        while (!bytes.IsEmpty)
        {
            if (!TryTake(ref bytes, out ulong at) || bytes.IsEmpty)
            {
                return false;
            }

            ulong[] others = new ulong[bytes[0]];
            bytes = bytes[1..];
            foreach (ref ulong other in others.AsSpan())
            {
                if (!TryTake(ref bytes, out other))
                {
                    return false;
                }
            }

            conditions.Add(new TagCondition(at, others));
        }

        state = new TagState(stamp, first, [.. conditions]);
        return conditions.Count is > 0 and <= MaxConditions;
    }

    private static void Write(ArrayBufferWriter<byte> target, ulong number)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(target.GetSpan(sizeof(ulong)), number);
        target.Advance(sizeof(ulong));
    }

    private static bool TryTake(ref ReadOnlySpan<byte> bytes, out ulong number)
    {
        if (!BinaryPrimitives.TryReadUInt64LittleEndian(bytes, out number))
        {
            return false;
        }

        bytes = bytes[sizeof(ulong)..];
        return true;
    }
}

/// <summary>The removal of entries that carry a tag and other tags.</summary>
/// <param name="At">The tag's last stamp of entries to which the removal applies.</param>
/// <param name="Others">The numbers of the other tags, in ascending order.</param>
internal readonly record struct TagCondition(ulong At, ulong[] Others)
{
    public bool IsMetBy(Tag[] tags) => Array.TrueForAll(Others, other => Array.Exists(tags, tag => TagState.NumberOf(tag.Name) == other));
}
