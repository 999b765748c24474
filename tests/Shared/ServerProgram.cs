using System.Diagnostics;

namespace Cairn.Testing;

/// <summary>A server program of the machine. It accepts connections when <see cref="Start"/> returns, and ends on disposal.</summary>
internal sealed class ServerProgram : IDisposable
{
    private readonly Process _process;

    private ServerProgram(Process process) => _process = process;

    public int Id => _process.Id;

    /// <summary>Starts a program, and waits until its output says that it accepts connections.</summary>
    /// <param name="name">The name of the program on the PATH.</param>
    /// <param name="arguments">The arguments of the program.</param>
    /// <param name="readyText">The text in the line that says so.</param>
    /// <param name="isOnError">Whether that line is on standard error.</param>
    /// <exception cref="InvalidOperationException">The program ended before that line.</exception>
    public static ServerProgram Start(string name, IEnumerable<string> arguments, string readyText, bool isOnError = false)
    {
        Process process = Process.Start(new ProcessStartInfo(name, arguments)
        {
            UseShellExecute = false,
            RedirectStandardOutput = !isOnError,
            RedirectStandardError = isOnError,
        })!;
        StreamReader lines = isOnError ? process.StandardError : process.StandardOutput;
        while (lines.ReadLine() is { } line)
        {
            if (line.Contains(readyText, StringComparison.Ordinal))
            {
                // Discards the further output, so that it does not fill the pipe.
                _ = lines.BaseStream.CopyToAsync(Stream.Null);
                return new ServerProgram(process);
            }
        }

        process.Dispose();
        throw new InvalidOperationException($"{name} ended before it accepted connections.");
    }

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
    }
}
