using System.Diagnostics;

namespace Cairn.Benchmarks;

/// <summary>This program published with ReadyToRun code, as the tool and the server are: for cases in which start-up counts.</summary>
internal static class AheadOfTimeBuild
{
    /// <summary>Publishes into <paramref name="folder"/> and returns the assembly to start; half a minute.</summary>
    /// <exception cref="InvalidOperationException">It cannot be published, say because the compiler's package is not to be had.</exception>
    public static string Publish(string root, string folder)
    {
        var output = Path.Combine(folder, "ahead-of-time");
        var start = new ProcessStartInfo(
            "dotnet",
            [
                "publish", Path.Combine(root, "bench", "Cairn.Benchmarks"), "--configuration", "Release",
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
            ? Path.Combine(output, Path.GetFileName(typeof(AheadOfTimeBuild).Assembly.Location))
            : throw new InvalidOperationException($"Publishing with ReadyToRun failed: {messages.Trim()}");
    }
}
