using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Bookshop.Tests;

/// <summary>The API in a process of its own.</summary>
internal sealed partial class ShopProcess : IDisposable
{
    private readonly Process _process;

    private ShopProcess(Process process) => _process = process;

    public static ShopProcess Start(params IEnumerable<string> settings)
    {
        var start = new ProcessStartInfo("dotnet", ["exec", typeof(BookshopApplication).Assembly.Location, .. settings])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };

        // Otherwise each killed process leaves the runtime's pipes and sockets for debuggers among the temporary files.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return new ShopProcess(Process.Start(start)!);
    }

    /// <summary>Returns the address of the API as soon as it listens.</summary>
    public async Task<Uri> AddressAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (Listening().Match(line) is { Success: true } match)
            {
                return new Uri(match.Groups[1].Value);
            }
        }

        throw new InvalidOperationException($"The API ended instead: {await _process.StandardError.ReadToEndAsync()}");
    }

    /// <summary>Waits until the process logs this text, and then asks it to end.</summary>
    public async Task TerminateAtAsync(string text)
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (line.Contains(text, StringComparison.Ordinal))
            {
                ProcessSignals.Terminate(_process.Id);
                return;
            }
        }

        throw new InvalidOperationException($"The API ended instead: {await _process.StandardError.ReadToEndAsync()}");
    }

    /// <summary>Waits for the end of the process. Returns its exit code and its standard error.</summary>
    public async Task<(int ExitCode, string Errors)> EndAsync()
    {
        var output = _process.StandardOutput.ReadToEndAsync();
        var errors = await _process.StandardError.ReadToEndAsync();
        await output;
        await _process.WaitForExitAsync();
        return (_process.ExitCode, errors);
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            _process.WaitForExit();
        }

        _process.Dispose();
    }

    [GeneratedRegex(@"Now listening on: (http://[\d.]+:\d+)")]
    private static partial Regex Listening();
}
