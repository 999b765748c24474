using System.Text;
using Cairn.Steps;

namespace Cairn.TortureTests.Processes;

/// <summary>Implements the roles of child processes in these tests.</summary>
internal static class ProcessRoles
{
    /// <summary>
    /// PATH OPERATION KEY STEP: opens the store and prints "open". After a line of input performs the operation, and stops itself when the operation
    /// first reaches the step. Prints the result, and closes the store at the end of input. If the operation is "open", it stops while opening.
    /// </summary>
    public static void StopAt(string[] args)
    {
        ProtocolStep step = Enum.Parse<ProtocolStep>(args[3]);
        if (args[1] == "open")
        {
            ArmStop(step);
        }

        using CairnStore store = CairnStore.Open(new StoreOptions { Path = args[0], FlushOnClose = false });
        Console.WriteLine("open");
        Console.ReadLine();
        if (args[1] != "open")
        {
            Console.WriteLine(Do(store, args[1], args[2], step));
        }

        Console.ReadLine();
    }

    /// <summary>PATH KEY...: pins the values of the keys, stops itself, and then prints whether they are unchanged.</summary>
    public static void StopWithPins(string[] args)
    {
        using CairnStore store = CairnStore.Open(new StoreOptions { Path = args[0], FlushOnClose = false });
        PinnedValue[] pins = [.. args[1..].Select(key => store.DefaultCollection.TryPin(key, out PinnedValue? pinned) ? pinned : null).OfType<PinnedValue>()];
        byte[][] before = [.. pins.Select(pinned => pinned.Value.ToArray())];
        Console.WriteLine(pins.Length);
        ProcessSignals.StopSelf();
        Console.WriteLine(pins.Zip(before).All(pair => pair.First.Value.SequenceEqual(pair.Second)) ? "unchanged" : "changed");
        Array.ForEach(pins, pinned => pinned.Dispose());
        Console.ReadLine();
    }

    /// <summary>
    /// PATH: opens the store and prints "open" or the exception; then performs each line of input: set KEY VALUE, get KEY.
    /// </summary>
    public static void Serve(string[] args)
    {
        CairnStore store;
        try
        {
            store = CairnStore.Open(new StoreOptions { Path = args[0], FlushOnClose = false, OpenMode = StoreOpenMode.OpenExisting });
        }
        catch (StoreException refused)
        {
            Console.WriteLine($"{refused.GetType().Name}: {refused.Message}");
            return;
        }

        using (store)
        {
            Console.WriteLine("open");
            while (Console.ReadLine() is { } line)
            {
                string[] words = line.Split(' ');
                Console.WriteLine(words[0] == "set"
                    ? $"{store.DefaultCollection.Set(words[1], Encoding.UTF8.GetBytes(words[2]))}"
                    : store.DefaultCollection.GetString(words[1]) ?? "none");
            }
        }
    }

    private static string Do(CairnStore store, string operation, string key, ProtocolStep step)
    {
        if (operation == "lease")
        {
            LeaseStatus status = store.DefaultCollection.AcquireLease(key, TimeSpan.Zero, out StoreLease? lease);
            ProcessSignals.StopSelf();
            return $"{status}, then {lease?.TrySet("leased"u8)}";
        }

        ArmStop(step);
        string result = operation switch
        {
            "set" => $"{store.DefaultCollection.Set(key, "stopped's"u8)}",
            "append" => $"{store.DefaultCollection.Append(key, "+"u8)}",
            "fill" => Fill(store),
            _ => throw new ArgumentOutOfRangeException(nameof(operation), operation, "Not an operation."),
        };
        ProtocolHook.Handler = null;
        return result;
    }

    private static string Fill(CairnStore store)
    {
        for (int i = 0; i < 3_000; i++)
        {
            store.DefaultCollection.Set($"fill:{i}", new byte[1_000]);
        }

        return "filled";
    }

    private static void ArmStop(ProtocolStep step)
    {
        bool isReached = false;
        ProtocolHook.Handler = reached =>
        {
            if (reached == step && !isReached)
            {
                isReached = true;
                ProcessSignals.StopSelf();
            }
        };
    }
}
