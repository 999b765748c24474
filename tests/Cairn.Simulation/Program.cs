using Cairn.Simulation.Rewriting;
using Cairn.Simulation.Scale;
using Cairn.Simulation.Scenarios;

namespace Cairn.Simulation;

/// <summary>
/// Runs the assembly as a program: <c>rewrite FOLDER</c> rewrites the product's assemblies there, <c>scale</c> measures the curves of
/// docs/scale.md (ScaleCommand), and the other words run seeds (SeedCommand).
/// </summary>
internal static class Program
{
    private static int Main(string[] args)
    {
        switch (args)
        {
            // Nothing that refers to the product may be loaded before it is rewritten: each case is a method of its own.
            case ["rewrite", var folder]:
                return ProductRewriter.Run(folder);
            case ["calls", var folder]:
                return ProductRewriter.ListCalls(folder);
            case ["scale", .. var options]:
                return ScaleCommand.Run(options);
            default:
                return SeedCommand.Run(args);
        }
    }
}
