using System.Diagnostics;
using System.Globalization;

namespace Cairn.Benchmarks.Server;

/// <summary>
/// Sets real-time priority for the main thread and for the processes that it starts meanwhile. So a measured start does not include waiting for a
/// core. Use it on the main thread only, and briefly.
/// </summary>
internal sealed class RealTimePriority : IDisposable
{
    public RealTimePriority() => Change("--fifo", "10");

    public void Dispose() => Change("--other", "0");

    private static void Change(string policy, string priority)
    {
        string[] arguments = [policy, "--pid", priority, Environment.ProcessId.ToString(CultureInfo.InvariantCulture)];
        using var process = Process.Start(new ProcessStartInfo("chrt", arguments) { RedirectStandardError = true, UseShellExecute = false })!;
        var errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        if (process.ExitCode != 0)
        {
            throw new InvalidOperationException($"Real-time priority cannot be had: {errors.Trim()}");
        }
    }
}
