using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn.Engine;

/// <summary>One write of a key: what the caller requires, what the index has, and the reserved place.</summary>
internal unsafe struct WriteOperation
{
    public KeyRef Key;
    public WriteCondition Condition;
    public ulong ExpectedVersion;

    /// <summary>The partition of the key, while this thread holds its lock.</summary>
    public PartitionBlock* Partition;

    /// <summary>Whether the key has an entry, which is <see cref="Old"/>. Valid until room is made (W2).</summary>
    public bool IsFound;
    public Located Old;

    /// <summary>Whether the key returned after an eviction. The policy is asked once, although the write may find the entry again.</summary>
    public bool IsReturning;

    /// <summary>The padded length of the new entry, the log that it goes to, and its reserved place.</summary>
    public long Bytes;
    public int Log;
    public byte* Target;

    /// <summary>The version of the new entry; 0 if there is none.</summary>
    public ulong Version;

    /// <summary>Begins a write. Leaves the other fields as they are: to clear or copy the whole structure takes 200 instructions.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Begin(out WriteOperation write, in KeyRef key, WriteCondition condition, ulong expectedVersion)
    {
        Unsafe.SkipInit(out write);
        write.Key = key;
        write.Condition = condition;
        write.ExpectedVersion = expectedVersion;
        write.IsReturning = false;
        write.Version = 0;
    }

    /// <summary>Gets whether the write must replace exactly the old entry that it found (W4).</summary>
    public readonly bool RestsOnOld => Condition is not (WriteCondition.Always or WriteCondition.IfAbsent);
}

/// <summary>The part of a write that runs under the lock of its key's partition. A structure, so that the call is a direct one.</summary>
internal interface ILockedWrite
{
    WriteStatus Run(StoreEngine engine, scoped ref WriteOperation write, scoped in EntryContent content);
}

internal readonly struct SetStep : ILockedWrite
{
    public WriteStatus Run(StoreEngine engine, scoped ref WriteOperation write, scoped in EntryContent content) =>
        engine.WriteLocked(ref write, content);
}

internal readonly struct RemoveStep : ILockedWrite
{
    public WriteStatus Run(StoreEngine engine, scoped ref WriteOperation write, scoped in EntryContent content) => engine.RemoveLocked(ref write);
}

internal readonly struct TouchStep(EntryFields? marks) : ILockedWrite
{
    public WriteStatus Run(StoreEngine engine, scoped ref WriteOperation write, scoped in EntryContent content) =>
        engine.TouchLocked(ref write, content, marks);
}

internal readonly struct JoinStep(bool isPrefix) : ILockedWrite
{
    public WriteStatus Run(StoreEngine engine, scoped ref WriteOperation write, scoped in EntryContent content) =>
        engine.JoinLocked(ref write, content.First, isPrefix);
}

internal ref struct RewriteStep(ResolvedExpiration? expiration) : ILockedWrite
{
    /// <summary>The new content, if it is too long to be copied under the lock.</summary>
    public EntryContent Content;

    public WriteStatus Run(StoreEngine engine, scoped ref WriteOperation write, scoped in EntryContent content) =>
        engine.ReplaceLocked(ref write, content, expiration, out Content);
}
