using System.Diagnostics;

namespace Cairn.Benchmarks;

/// <summary>Starts this program again with other arguments, for cases that need more than one process.</summary>
internal static class ChildProcess
{
    public static Process Start(params string[] arguments)
    {
        // If this program was started as `dotnet Cairn.Benchmarks.dll`, the process is dotnet and needs the assembly as its first argument.
        var executable = Environment.ProcessPath!;
        var isHost = Path.GetFileNameWithoutExtension(executable) == "dotnet";
        return Start(executable, isHost ? [typeof(ChildProcess).Assembly.Location, .. arguments] : arguments);
    }

    /// <summary>Starts another build of this program.</summary>
    public static Process StartBuild(string assembly, params string[] arguments) => Start("dotnet", [assembly, .. arguments]);

    private static Process Start(string executable, string[] arguments)
    {
        var start = new ProcessStartInfo(executable, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            UseShellExecute = false,
        };
        return Process.Start(start) ?? throw new InvalidOperationException("Another process could not be started.");
    }
}
