using System.Diagnostics;
using System.Globalization;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>Sets real-time priority for all threads of processes while they are measured, on a machine that others use too.</summary>
internal static class ShopPriority
{
    public const string RealTime = "10";

    public static void Raise(IEnumerable<int> processes) => Change(processes, "--fifo", RealTime);

    public static void Restore(IEnumerable<int> processes) => Change(processes, "--other", "0");

    // Ignores a process that has ended in the meantime, such as the process of a closed connection.
    private static void Change(IEnumerable<int> processes, string policy, string priority)
    {
        foreach (var id in processes)
        {
            using var process = Process.Start(new ProcessStartInfo(
                "chrt", ["--all-tasks", policy, "--pid", priority, id.ToString(CultureInfo.InvariantCulture)])
            {
                RedirectStandardError = true,
                UseShellExecute = false,
            })!;
            process.StandardError.ReadToEnd();
            process.WaitForExit();
        }
    }
}
