using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>A Redis server on a Unix socket, on the core of the load.</summary>
internal sealed class ShopRedis : IDisposable
{
    private static readonly TimeSpan _longestStart = TimeSpan.FromSeconds(10);

    private readonly Process _process;

    private ShopRedis(Process process, string socket)
    {
        _process = process;
        Configuration = "!" + socket;
    }

    public string Configuration { get; }

    /// <summary>Starts a server; returns <see langword="null"/> if Redis is not installed or does not start.</summary>
    public static ShopRedis? TryStart(string folder, RunLog log)
    {
        var socket = Path.Combine(folder, "redis");
        var process = Process.Start(new ProcessStartInfo(
            "taskset",
            [
                "-c", LoadGenerator.Core.ToString(CultureInfo.InvariantCulture), "redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder,
                "--save", "", "--appendonly", "no", "--logfile", Path.Combine(folder, "redis.log"),
            ])
        { RedirectStandardError = true, UseShellExecute = false })!;
        SpinWait.SpinUntil(() => File.Exists(socket) || process.HasExited, _longestStart);
        if (File.Exists(socket))
        {
            return new ShopRedis(process, socket);
        }

        log.Say($"redis-server did not start (Debian package redis-server): {process.StandardError.ReadToEnd().Trim()}");
        process.Dispose();
        return null;
    }

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
    }
}
