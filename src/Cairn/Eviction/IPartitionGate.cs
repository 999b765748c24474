using Cairn.Storage;

namespace Cairn.Eviction;

/// <summary>Enters other partitions than the one that a write has: to take from them what a long value needs.</summary>
internal unsafe interface IPartitionGate
{
    /// <summary>Takes a partition's lock.</summary>
    /// <param name="number">The partition.</param>
    /// <returns>The partition; null if a stopped process holds its lock.</returns>
    PartitionBlock* Enter(int number);

    /// <summary>Releases it.</summary>
    void Leave(PartitionBlock* partition);

    /// <summary>Releases it after an exception, which may have left something half done.</summary>
    void LeaveBroken(PartitionBlock* partition, int number);
}
