using System.Diagnostics;
using System.Globalization;
using System.Net;

namespace Cairn.Server.Tests.Memcached;

/// <summary>The memcached of the machine, on a port of its own.</summary>
internal sealed class StockMemcached : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly TestDirectory _directory;
    private readonly Process _process;

    private StockMemcached(TestDirectory directory, Process process, IPEndPoint endPoint)
    {
        _directory = directory;
        _process = process;
        EndPoint = endPoint;
    }

    public IPEndPoint EndPoint { get; }

    public static StockMemcached Start(params string[] options)
    {
        var directory = new TestDirectory();
        string portFile = Path.Combine(directory.Path, "port");

        // memcached chooses a free port and writes it to a file.
        var start = new ProcessStartInfo(
            "memcached", ["-l", "127.0.0.1", "-p", "-1", "-U", "0", "-t", "1", "-u", Environment.UserName, .. options])
        {
            UseShellExecute = false,
            RedirectStandardError = true,
        };
        start.Environment["MEMCACHED_PORT_FILENAME"] = portFile;
        Process process = Process.Start(start)!;
        process.ErrorDataReceived += (_, _) => { };
        process.BeginErrorReadLine();

        // The file gets its name when it is complete.
        var waited = Stopwatch.StartNew();
        while (!File.Exists(portFile))
        {
            if (waited.Elapsed > Patience || process.HasExited)
            {
                process.Kill();
                throw new InvalidOperationException("memcached did not start.");
            }

            Thread.Yield();
        }

        string port = File.ReadAllText(portFile).Split(':')[1];
        return new StockMemcached(
            directory, process, new IPEndPoint(IPAddress.Loopback, int.Parse(port, CultureInfo.InvariantCulture)));
    }

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
        _directory.Dispose();
    }
}
