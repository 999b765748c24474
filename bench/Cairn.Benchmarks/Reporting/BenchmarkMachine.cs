using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Describes the conditions of a measurement: machine and commit. Contains no host, user or folder names.</summary>
internal static class BenchmarkMachine
{
    /// <summary>Returns processor, cores, memory, kernel and runtime in one line.</summary>
    public static string DescribeMachine()
    {
        var cores = Environment.ProcessorCount;
        var memoryGiB = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / (double)(1L << 30);
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{ProcessorModel()}, {cores} {(cores == 1 ? "core" : "cores")}, {memoryGiB:0} GiB, {Kernel()}, {RuntimeInformation.FrameworkDescription}");
    }

    /// <summary>Returns the commit that is checked out in <paramref name="folder"/>, or "unknown" without git.</summary>
    public static string DescribeCommit(string folder)
    {
        var start = new ProcessStartInfo("git", ["-C", folder, "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };

        try
        {
            using var git = Process.Start(start);
            var commit = git!.StandardOutput.ReadToEnd().Trim();
            git.WaitForExit();
            return git.ExitCode == 0 ? commit : "unknown";
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return "unknown";
        }
    }

    private static string ProcessorModel()
    {
        const string InfoFile = "/proc/cpuinfo";
        var model = File.Exists(InfoFile)
            ? File.ReadLines(InfoFile).FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal))
            : null;
        return model?[(model.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim()
            ?? RuntimeInformation.ProcessArchitecture.ToString();
    }

    // The release file contains only the version. The full description may contain the host name of the build machine.
    private static string Kernel()
    {
        const string ReleaseFile = "/proc/sys/kernel/osrelease";
        return File.Exists(ReleaseFile)
            ? "Linux " + File.ReadAllText(ReleaseFile).Trim()
            : Environment.OSVersion.ToString();
    }
}
