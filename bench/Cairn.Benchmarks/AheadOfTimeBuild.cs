using System.Diagnostics;

namespace Cairn.Benchmarks;

/// <summary>Publishes programs with ReadyToRun code, for cases in which start-up time counts.</summary>
internal static class AheadOfTimeBuild
{
    /// <summary>Publishes this program into <paramref name="folder"/> and returns the path of its assembly; takes half a minute.</summary>
    /// <exception cref="InvalidOperationException">Publishing failed, for example because the compiler's package is not available.</exception>
    public static string Publish(string root, string folder) => Path.Combine(
        Publish(root, folder, Path.Combine("bench", "Cairn.Benchmarks")), Path.GetFileName(typeof(AheadOfTimeBuild).Assembly.Location));

    /// <summary>Publishes the command-line tool, which contains the server, and returns the path of its executable.</summary>
    /// <exception cref="InvalidOperationException">Publishing failed.</exception>
    public static string PublishTool(string root, string folder) =>
        Path.Combine(Publish(root, folder, Path.Combine("src", "Cairn.Cli")), "cairn");

    private static string Publish(string root, string folder, string project)
    {
        var output = Path.Combine(folder, "ahead-of-time");
        var start = new ProcessStartInfo(
            "dotnet",
            [
                "publish", Path.Combine(root, project), "--configuration", "Release",
                "--use-current-runtime", "--no-self-contained", "--output", output, "--artifacts-path", Path.Combine(folder, "ahead-of-time-build"),
                "-p:PublishReadyToRun=true", "-p:RunAnalyzers=false", "-p:UseSharedCompilation=false", "-nodeReuse:false", "-nologo",
                "-verbosity:quiet",
            ])
        {
            RedirectStandardOutput = true,
            UseShellExecute = false,
        };
        using var process = Process.Start(start) ?? throw new InvalidOperationException("dotnet could not be started.");
        var messages = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0
            ? output
            : throw new InvalidOperationException($"Publishing with ReadyToRun failed: {messages.Trim()}");
    }
}
