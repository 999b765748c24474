using System.Globalization;

namespace Cairn.TortureTests.Damage;

/// <summary>What the other processes of a damage test do.</summary>
internal static class DamageRoles
{
    // Filling a store costs as much as using it.
    private const int SeedsPerScene = 16;

    /// <summary>
    /// DIRECTORY FIRST COUNT: damages a store's file and uses it, with each seed from the first on. Says "seed N" before each, "fault TEXT"
    /// when something was wrong, and "done" and numbers at the end.
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

                // Mappings go with their finalizers.
                GC.Collect();
            }

            DamagedUse.Run(path, scene, seed, tally);
        }

        Console.WriteLine($"done {tally}");
    }
}
