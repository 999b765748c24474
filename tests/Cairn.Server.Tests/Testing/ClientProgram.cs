using System.Diagnostics;
using System.Text;

namespace Cairn.Server.Tests.Testing;

/// <summary>A program of another project that uses a server. Its test checks what it prints.</summary>
internal sealed record ClientProgram(string FileName, params string[] Arguments)
{
    // If a client waits for a reply that does not come, its test fails and shows the output so far.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Gets the standard input; empty by default.</summary>
    public byte[] Input { get; init; } = [];

    public Dictionary<string, string> Environment { get; init; } = [];

    /// <summary>Runs the program to its end and returns its standard output.</summary>
    /// <exception cref="InvalidOperationException">The exit code was not 0, or the program did not end.</exception>
    public async Task<string> RunAsync()
    {
        (int exitCode, string output, string errors) = await RunToAnyEndAsync();
        return exitCode == 0
            ? output
            : throw new InvalidOperationException(
                $"{FileName} {string.Join(' ', Arguments)} ended with exit code {exitCode}:\n{output}{errors}");
    }

    /// <summary>Runs the program to its end and accepts any exit code.</summary>
    /// <exception cref="InvalidOperationException">The program did not end.</exception>
    public async Task<(int ExitCode, string Output, string Errors)> RunToAnyEndAsync()
    {
        using Process process = Start();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        bool hasEnded = true;
        using (var patience = new CancellationTokenSource(Patience))
        {
            try
            {
                await process.StandardInput.BaseStream.WriteAsync(Input, patience.Token);
                process.StandardInput.Close();
                await process.WaitForExitAsync(patience.Token);
            }
            catch (OperationCanceledException)
            {
                hasEnded = false;
                process.Kill(entireProcessTree: true);
            }
        }

        return hasEnded
            ? (process.ExitCode, await output, await errors)
            : throw new InvalidOperationException(
                $"{FileName} {string.Join(' ', Arguments)} did not end:\n{await output}{await errors}");
    }

    /// <summary>Runs the program until it has printed <paramref name="count"/> lines, then ends it. For programs that do not end.</summary>
    /// <exception cref="InvalidOperationException">The program ended before, or did not print them.</exception>
    public async Task<string[]> RunForLinesAsync(int count)
    {
        using Process process = Start();
        using var patience = new CancellationTokenSource(Patience);
        var lines = new List<string>();
        try
        {
            while (lines.Count < count && await process.StandardOutput.ReadLineAsync(patience.Token) is { } line)
            {
                lines.Add(line);
            }
        }
        finally
        {
            process.Kill(entireProcessTree: true);
            await process.WaitForExitAsync(CancellationToken.None);
        }

        return lines.Count == count
            ? [.. lines]
            : throw new InvalidOperationException(
                $"{FileName} {string.Join(' ', Arguments)} ended after {lines.Count} lines:\n{string.Join('\n', lines)}");
    }

    private Process Start()
    {
        var start = new ProcessStartInfo(FileName, Arguments)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            StandardOutputEncoding = Encoding.Latin1, // Each byte is one character, for all byte values.
        };
        foreach ((string name, string value) in Environment)
        {
            start.Environment[name] = value;
        }

        return Process.Start(start)!;
    }
}
