using System.Diagnostics;
using System.Text;

namespace Cairn.Server.Tests.Testing;

/// <summary>A program of another project that talks to a server: its test is about what it prints.</summary>
internal sealed record ClientProgram(string FileName, params string[] Arguments)
{
    // A client that waits for a reply that never comes fails its test, and says what it printed until then.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>What it reads; nothing unless given.</summary>
    public byte[] Input { get; init; } = [];

    public Dictionary<string, string> Environment { get; init; } = [];

    /// <summary>Runs it to its end and returns what it printed to its standard output.</summary>
    /// <exception cref="InvalidOperationException">Its exit code was not 0, or it did not end.</exception>
    public async Task<string> RunAsync()
    {
        (int exitCode, string output, string errors) = await RunToAnyEndAsync();
        return exitCode == 0
            ? output
            : throw new InvalidOperationException(
                $"{FileName} {string.Join(' ', Arguments)} ended with exit code {exitCode}:\n{output}{errors}");
    }

    /// <summary>Runs it to its end, whatever the exit code.</summary>
    /// <exception cref="InvalidOperationException">It did not end.</exception>
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

    /// <summary>Runs it until it has printed so many lines, then ends it. For programs that would go on for ever.</summary>
    /// <exception cref="InvalidOperationException">It ended before, or did not print them.</exception>
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
            StandardOutputEncoding = Encoding.Latin1, // Each byte is a character, whatever the bytes are.
        };
        foreach ((string name, string value) in Environment)
        {
            start.Environment[name] = value;
        }

        return Process.Start(start)!;
    }
}
