using System.Diagnostics;

namespace Cairn.Benchmarks;

/// <summary>Publishes programs that are compiled ahead of time, for cases in which start-up time counts.</summary>
internal static class AheadOfTimeBuild
{
    /// <summary>Publishes this program into <paramref name="folder"/> and returns the path of its assembly; takes half a minute.</summary>
    /// <exception cref="InvalidOperationException">Publishing failed, for example because the compiler's package is not available.</exception>
    public static string Publish(string root, string folder) => Path.Combine(
        Publish(root, folder, Path.Combine("bench", "Cairn.Benchmarks"), isNative: false), Path.GetFileName(typeof(AheadOfTimeBuild).Assembly.Location));

    /// <summary>Publishes the command-line tool, which contains the server, and returns the path of its executable.</summary>
    /// <exception cref="InvalidOperationException">Publishing failed; a native binary needs clang or gcc.</exception>
    public static string PublishTool(string root, string folder, bool isNative) =>
        Path.Combine(Publish(root, folder, Path.Combine("src", "Cairn.Cli"), isNative), "cairn");

    private static string Publish(string root, string folder, string project, bool isNative)
    {
        var kind = isNative ? "native" : "ready-to-run";
        var output = Path.Combine(folder, kind);
        string[] options = isNative ? ["-p:PublishAot=true", "-p:DebugType=none"] : ["--no-self-contained", "-p:PublishReadyToRun=true"];
        var start = new ProcessStartInfo(
            "dotnet",
            [
                "publish", Path.Combine(root, project), "--configuration", "Release", "--use-current-runtime", .. options,
                "--output", output, "--artifacts-path", Path.Combine(folder, kind + "-build"),
                "-p:RunAnalyzers=false", "-p:UseSharedCompilation=false", "-nodeReuse:false", "-nologo", "-verbosity:quiet",
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
            : throw new InvalidOperationException($"Publishing ({kind}) failed: {messages.Trim()}");
    }
}
