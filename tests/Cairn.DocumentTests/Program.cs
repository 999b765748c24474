using Cairn.DocumentTests.Samples;

namespace Cairn.DocumentTests;

/// <summary>The programs of the tutorial. A test starts this assembly again as one of them (see ChildProcess).</summary>
internal static class Program
{
    private static async Task<int> Main(string[] args)
    {
        await (args[0] switch
        {
            "shop" => TutorialPrograms.ShopAsync(args[1..]),
            "review" => TutorialPrograms.ReviewAsync(args[1..]),
            "titles" => TutorialPrograms.TitlesAsync(),
            "hybrid-shop" => Samples.HybridTutorial.Shop.RunAsync(args[1..]),
            _ => throw new ArgumentException($"No program {args[0]}.", nameof(args)),
        });
        return 0;
    }
}
