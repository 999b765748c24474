using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>A client in C with hiredis, compiled from its source. It keeps as many requests in flight as there are callers.</summary>
internal sealed class HiredisGets : IContender
{
    private readonly string _program;
    private readonly string[] _arguments;
    private readonly int _core;
    private readonly int _operations;

    /// <summary>Compiles the client.</summary>
    /// <param name="name">The name in reports.</param>
    /// <param name="core">The core on which the client runs.</param>
    /// <param name="root">The root of the repository.</param>
    /// <param name="folder">The folder for the compiled program.</param>
    /// <param name="port">The server's port.</param>
    /// <param name="key">The key to get.</param>
    /// <param name="depth">The number of requests in flight.</param>
    /// <param name="operations">The number of requests per round.</param>
    /// <exception cref="PeerUnavailableException">There is no C compiler, or hiredis is not installed.</exception>
    public HiredisGets(string name, int core, string root, string folder, int port, string key, int depth, int operations)
    {
        Name = name;
        _core = core;
        _program = Path.Combine(folder, "hiredis_get");
        _operations = operations;
        _arguments = [Text(port), key, Text(depth), Text(operations)];
        try
        {
            using var compiler = Process.Start(new ProcessStartInfo(
                "cc", [Path.Combine(root, "bench", "loadgen", "hiredis_get.c"), "-O2", "-o", _program, "-lhiredis"])
            {
                RedirectStandardError = true,
                UseShellExecute = false,
            })!;
            var errors = compiler.StandardError.ReadToEnd();
            compiler.WaitForExit();
            if (compiler.ExitCode != 0)
            {
                throw new PeerUnavailableException("hiredis", $"it cannot be compiled (Debian package libhiredis-dev): {errors.Split('\n')[0]}");
            }
        }
        catch (Win32Exception)
        {
            throw new PeerUnavailableException("hiredis", "there is no C compiler (Debian package gcc).");
        }
    }

    public string Name { get; }

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        var ns = RunAll();
        return new Sample(ns / _operations, ns / _operations, BytesAllocated: 0);
    }

    public void Dispose()
    {
        // The program is deleted with its folder.
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private double RunAll()
    {
        using var process = Process.Start(new ProcessStartInfo("taskset", ["-c", Text(_core), _program, .. _arguments])
        {
            RedirectStandardOutput = true,
            UseShellExecute = false,
        })!;
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0
            ? double.Parse(output, CultureInfo.InvariantCulture)
            : throw new InvalidOperationException("hiredis_get failed.");
    }
}
