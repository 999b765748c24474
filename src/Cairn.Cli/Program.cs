namespace Cairn.Cli;

internal static class Program
{
    private static int Main(string[] args) => DescriptorLimit.Require(args) ? Run(args) : ExitCode.File;

    // A separate method, so that its assemblies are loaded only after the check of the limit.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Run(string[] args)
    {
        using var console = new SystemConsole();
        return Tool.Run(args, console);
    }
}
