using System.Globalization;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>Implements the roles of child processes in coherence tests.</summary>
internal static class CoherenceRoles
{
    public const int Threads = 2;

    /// <summary>
    /// PATH NUMBERS FIRST WRITERS SEED OPERATIONS: works with two threads, which are the writers from FIRST on. Prints "working", and then the
    /// number of hits or the fault.
    /// </summary>
    public static void Cohere(string[] args)
    {
        int[] numbers = [.. args[2..].Select(arg => int.Parse(arg, CultureInfo.InvariantCulture))];
        using CairnStore store = CairnStore.Open(
            new StoreOptions { Path = args[0], CapacityBytes = StoreDirectory.SmallCapacityBytes, FlushOnClose = false });
        using var shared = new SharedNumbers(args[1], CoherenceWork.Keys);
        Console.WriteLine("working");
        Console.WriteLine(Work(store, shared, numbers[0], numbers[1], numbers[2], numbers[3]));
        Console.ReadLine();
    }

    /// <summary>Works with two threads. Returns the number of hits, or the fault.</summary>
    public static string Work(CairnStore store, SharedNumbers shared, int first, int writers, int seed, long operations)
    {
        var held = new HeldValues();
        var coherence = new StoreCoherence(store);
        coherence.Attach(held);
        CoherenceWork[] works =
            [.. Enumerable.Range(first, Threads).Select(writer => new CoherenceWork(store, coherence, held, shared, writer, writers))];
        Thread[] threads = [.. works.Select((work, i) => new Thread(() => work.Run(seed + i, operations)))];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());
        return works.Select(work => work.Fault).FirstOrDefault(fault => fault is not null)
            ?? works.Sum(work => Math.Min(work.Hits, work.Kept)).ToString(CultureInfo.InvariantCulture);
    }
}
