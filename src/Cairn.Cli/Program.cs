using Cairn.Cli.Output;

namespace Cairn.Cli;

internal static class Program
{
    private static int Main(string[] args)
    {
        using var console = new SystemConsole();
        return Tool.Run(args, console);
    }
}
