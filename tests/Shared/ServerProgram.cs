using System.Diagnostics;

namespace Cairn.Testing;

/// <summary>A server of the machine that a test has started. It accepts connections by then, and ends with this.</summary>
internal sealed class ServerProgram : IDisposable
{
    private readonly Process _process;

    private ServerProgram(Process process) => _process = process;

    public int Id => _process.Id;

    /// <summary>Starts a program, and waits until it says that it accepts connections.</summary>
    /// <param name="name">The program, found on the PATH.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="readyText">What the line has in it by which it says so.</param>
    /// <param name="isOnError">Whether it says so on standard error.</param>
    /// <exception cref="InvalidOperationException">It ended before.</exception>
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
                // Its further output must not fill the pipe.
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
