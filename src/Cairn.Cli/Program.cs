using System.Runtime.CompilerServices;
using Cairn.Cli.Output;

namespace Cairn.Cli;

internal static class Program
{
    private static int Main(string[] args) => DescriptorLimit.Require(args) ? Run(args) : ExitCode.File;

    // A separate method, so that what it uses is loaded only when there are descriptors for it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Run(string[] args)
    {
        using var console = new SystemConsole();
        return Tool.Run(args, console);
    }
}
