using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;

namespace Cairn.Redis.Tests.Servers;

/// <summary>The memcached of the machine, on a port of its own, which can be ended and started again.</summary>
[SuppressMessage("Usage", "CA2213:Disposable fields should be disposed", Justification = "Kill does, each time the server ends.")]
internal sealed class MemcachedProcess : IDisposable
{
    private readonly int _port = FreePorts.Take();
    private readonly string[] _settings;
    private Process? _process;

    private MemcachedProcess(string[] settings) => _settings = settings;

    public string Address => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{_port}");

    public static MemcachedProcess Start(params string[] settings)
    {
        var server = new MemcachedProcess(settings);
        server.Run();
        return server;
    }

    public void Run()
    {
        var start = new ProcessStartInfo(
            "memcached",
            ["-l", "127.0.0.1", "-p", _port.ToString(CultureInfo.InvariantCulture), "-U", "0", "-t", "1", "-u", Environment.UserName, "-vv", .. _settings])
        {
            UseShellExecute = false,
            RedirectStandardError = true,
        };
        Process process = Process.Start(start)!;
        while (process.StandardError.ReadLine() is { } line)
        {
            if (line.Contains("server listening", StringComparison.Ordinal))
            {
                _ = process.StandardError.BaseStream.CopyToAsync(Stream.Null);
                _process = process;
                return;
            }
        }

        process.Dispose();
        throw new InvalidOperationException("memcached ended before it accepted connections.");
    }

    public void Kill()
    {
        if (_process is not null)
        {
            _process.Kill();
            _process.WaitForExit();
            _process.Dispose();
            _process = null;
        }
    }

    public void Dispose() => Kill();
}
