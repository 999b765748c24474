using System.Diagnostics;

namespace Bookshop.Tests.Servers;

/// <summary>Runs programs that may leave a server running.</summary>
internal static class ServerProgram
{
    // Discards the output: a server that is left running would keep a pipe open.
    public static void Run(string program, params IEnumerable<string> arguments)
    {
        using var process = Process.Start(StartOf(program, arguments))!;
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{program} {string.Join(' ', arguments)} ended with {process.ExitCode}.");
    }

    public static ProcessStartInfo StartOf(string program, IEnumerable<string> arguments) =>
        new("/bin/sh", ["-c", "exec \"$@\" >/dev/null 2>&1", "sh", program, .. arguments]) { UseShellExecute = false, WorkingDirectory = "/" };
}
