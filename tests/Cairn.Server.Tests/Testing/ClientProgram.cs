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

    /// <summary>Runs it to its end and returns what it printed.</summary>
    /// <exception cref="InvalidOperationException">Its exit code was not 0, or it did not end.</exception>
    public async Task<string> RunAsync()
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

        using Process process = Process.Start(start)!;
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

        return hasEnded && process.ExitCode == 0
            ? await output
            : throw new InvalidOperationException(
                $"{FileName} {string.Join(' ', Arguments)} {(hasEnded ? $"ended with exit code {process.ExitCode}" : "did not end")}:\n"
                + await output + await errors);
    }
}
