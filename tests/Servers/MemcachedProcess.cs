using System.Diagnostics.CodeAnalysis;
using System.Globalization;

namespace Cairn.Testing;

/// <summary>The machine's memcached on a port of its own. It can be ended and started again.</summary>
[SuppressMessage("Usage", "CA2213:Disposable fields should be disposed", Justification = "Kill does, each time the server ends.")]
internal sealed class MemcachedProcess : IDisposable
{
    private readonly int _port = FreePorts.Take();
    private readonly string[] _settings;
    private ServerProgram? _program;

    private MemcachedProcess(string[] settings) => _settings = settings;

    public string Address => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{_port}");

    public static MemcachedProcess Start(params string[] settings)
    {
        var server = new MemcachedProcess(settings);
        server.Run();
        return server;
    }

    public void Run() => _program = ServerProgram.Start(
        "memcached",
        ["-l", "127.0.0.1", "-p", _port.ToString(CultureInfo.InvariantCulture), "-U", "0", "-t", "1", "-u", Environment.UserName, "-vv", .. _settings],
        "server listening",
        isOnError: true);

    public void Kill()
    {
        _program?.Dispose();
        _program = null;
    }

    public void Dispose() => Kill();
}
