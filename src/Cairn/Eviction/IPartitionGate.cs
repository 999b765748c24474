namespace Cairn.Eviction;

/// <summary>Enters partitions other than that of the write, to take segments from them for a long value.</summary>
internal unsafe interface IPartitionGate
{
    /// <summary>Acquires a partition's lock.</summary>
    /// <param name="number">The partition.</param>
    /// <returns>The partition; null if a stopped process holds its lock.</returns>
    PartitionBlock* Enter(int number);

    /// <summary>Releases the lock.</summary>
    void Leave(PartitionBlock* partition);

    /// <summary>Releases the lock after an exception that may have left the partition partly changed.</summary>
    void LeaveBroken(PartitionBlock* partition, int number);
}
