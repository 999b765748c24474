using System.Diagnostics;

namespace Cairn.Benchmarks;

/// <summary>This program once more, with other arguments: for cases that take more than one process.</summary>
internal static class ChildProcess
{
    public static Process Start(params string[] arguments)
    {
        // Started as `dotnet Cairn.Benchmarks.dll`, the process is dotnet and needs to be told the assembly again.
        var executable = Environment.ProcessPath!;
        var isHost = Path.GetFileNameWithoutExtension(executable) == "dotnet";
        return Start(executable, isHost ? [typeof(ChildProcess).Assembly.Location, .. arguments] : arguments);
    }

    /// <summary>Another build of this program.</summary>
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
