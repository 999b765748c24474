using System.CommandLine;

namespace Cairn.Cli;

internal static class Program
{
    private static int Main(string[] args)
    {
        var root = new RootCommand("Works on Cairn store files, also while other processes use them.");
        return root.Parse(args.Length == 0 ? ["--help"] : args).Invoke();
    }
}
