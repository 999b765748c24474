using System.Globalization;

namespace Cairn.TortureTests.Damage;

/// <summary>Implements the roles of child processes in damage tests.</summary>
internal static class DamageRoles
{
    // Filling a store takes as long as using it, so several seeds share one filled store.
    private const int SeedsPerScene = 16;

    /// <summary>
    /// DIRECTORY FIRST COUNT: damages a store's file and uses it, for each of COUNT seeds from FIRST. Prints "seed N" before each, "fault TEXT"
    /// for a fault, and "done" with totals at the end.
    /// </summary>
    public static void Seeds(string[] args)
    {
        int first = int.Parse(args[1], CultureInfo.InvariantCulture);
        int count = int.Parse(args[2], CultureInfo.InvariantCulture);
        string path = Path.Combine(args[0], "store.cairn");
        var tally = new DamageTally();
        DamageScene? scene = null;
        for (int i = 0; i < count; i++)
        {
            int seed = unchecked(first + i);
            Console.WriteLine($"seed {seed}");
            if (scene is null || seed % SeedsPerScene == 0)
            {
                scene = DamageScene.Make(path, seed / SeedsPerScene);

                // Finalizers release the mappings.
                GC.Collect();
            }

            DamagedUse.Run(path, scene, seed, tally);
        }

        Console.WriteLine($"done {tally}");
    }

    /// <summary>PATH SEED: prints "scribbling", writes garbage over the file until a line of input arrives, and prints how much.</summary>
    public static void Scribble(string[] args)
    {
        using var scribbler = new Scribbler(args[0], new Random(int.Parse(args[1], CultureInfo.InvariantCulture)));
        Task<string?> end = OwnThread.Run(Console.ReadLine);
        Console.WriteLine("scribbling");
        scribbler.Run(() => !end.IsCompleted);
        Console.WriteLine($"{scribbler.Words} words");
    }

    /// <summary>
    /// PATH SEED OWNER OWNERS: works on a store that another program overwrites. Prints "open", works until a line of input arrives, and prints a
    /// line at intervals. Prints "fault TEXT" for a fault, and "done" at the end.
    /// </summary>
    public static void WorkScribbled(string[] args)
    {
        int[] numbers = [.. args[1..].Select(arg => int.Parse(arg, CultureInfo.InvariantCulture))];
        var work = new ScribbledWork(args[0], new Random(numbers[0]), numbers[1], numbers[2]);
        Task<string?> end = OwnThread.Run(Console.ReadLine);
        work.Run(() => !end.IsCompleted);
    }

    /// <summary>PATH SEED: uses a store whose file was damaged. Prints "fault TEXT" for a fault, and "done".</summary>
    public static void Use(string[] args)
    {
        var tally = new DamageTally();
        DamagedUse.RunOnFile(args[0], int.Parse(args[1], CultureInfo.InvariantCulture), tally);
        Console.WriteLine($"done {tally}");
    }
}
