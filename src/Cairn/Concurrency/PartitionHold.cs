namespace Cairn.Concurrency;

/// <summary>The partitions that a thread holds or is about to hold. Can be reused after its release.</summary>
internal sealed class PartitionHold(int partitionCount)
{
    private readonly ulong[] _numbers = new ulong[(partitionCount + 63) / 64];

    /// <summary>Gets the number of named partitions.</summary>
    public int Count { get; private set; }

    /// <summary>Gets or sets the engine that holds the partitions; null if no engine does.</summary>
    internal object? Holder { get; set; }

    /// <summary>Gets or sets the end of the last record that was logged under this hold; 0 for none.</summary>
    internal long Logged { get; set; }

    /// <summary>Names a partition. Naming it again has no effect.</summary>
    public void Add(int number)
    {
        ulong bit = 1UL << (number & 63);
        ref ulong word = ref _numbers[number >> 6];
        if ((word & bit) == 0)
        {
            word |= bit;
            Count++;
        }
    }

    /// <summary>Names every partition.</summary>
    public void AddAll()
    {
        for (int number = 0; number < partitionCount; number++)
        {
            Add(number);
        }
    }

    /// <summary>Removes all names.</summary>
    public void Clear()
    {
        Array.Clear(_numbers);
        Count = 0;
    }

    /// <summary>Returns the first named partition at or above a number; -1 if there is none.</summary>
    public int Next(int number)
    {
        for (int i = number >> 6; i < _numbers.Length; i++)
        {
            ulong word = _numbers[i];
            if (i == number >> 6)
            {
                word &= ulong.MaxValue << (number & 63);
            }

            if (word != 0)
            {
                return (i << 6) + BitOperations.TrailingZeroCount(word);
            }
        }

        return -1;
    }
}
