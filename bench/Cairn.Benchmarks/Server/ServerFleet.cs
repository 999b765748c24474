using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

// The servers of a run. Each is started and filled when it is first needed and runs until the end. Its memory costs the others
// nothing, and each server has worked for a while when it is measured.
internal sealed class ServerFleet(LoadGenerator generator, string folder, int keys) : IDisposable
{
    private readonly Dictionary<(ServerProgram, WireProtocol, bool IsUnix, int ValueBytes), ServerProcess> _running = [];
    private readonly Dictionary<ServerProgram, string> _broken = [];

    private const int MostValueBytes = 200_000_000;

    public LoadGenerator Generator => generator;

    /// <summary>Returns the number of keys of a workload. The values of one server take at most 200 MB.</summary>
    public int KeysOf(Workload workload) => Math.Min(keys, MostValueBytes / workload.ValueBytes);

    /// <summary>Returns a server with all keys of a workload set; starts it if necessary.</summary>
    /// <exception cref="PeerUnavailableException">It cannot be started.</exception>
    public ServerProcess Get(ServerProgram program, WireProtocol protocol, Workload workload)
    {
        var place = (program, protocol, workload.IsUnix, workload.ValueBytes);
        if (_running.TryGetValue(place, out var running))
        {
            return running;
        }

        if (_broken.TryGetValue(program, out var reason))
        {
            throw new PeerUnavailableException(program.Name, reason);
        }

        try
        {
            var home = Path.Combine(folder, _running.Count.ToString(CultureInfo.InvariantCulture));
            var server = ServerProcess.Start(program, protocol, home, workload.IsUnix);
            _running.Add(place, server);
            if (program is not EchoProgram)
            {
                generator.SetKeys(server.Address, protocol, KeysOf(workload), workload.ValueBytes);
            }

            return server;
        }
        catch (Exception failure) when (failure is InvalidOperationException or System.ComponentModel.Win32Exception)
        {
            _broken[program] = failure.Message;
            throw new PeerUnavailableException(program.Name, failure.Message, failure);
        }
    }

    public void Dispose()
    {
        foreach (var server in _running.Values)
        {
            server.Dispose();
        }
    }
}

/// <summary>A server under one workload.</summary>
internal sealed class ServerContender(
    ServerFleet fleet, ServerProgram program, WireProtocol protocol, Workload workload, double seconds) : IContender
{
    private bool _isWarm;

    public string Name => program.Name;

    // One warm-up is enough: further warm-ups serve the compiler of this process, which does not run the server.
    public void WarmUp()
    {
        if (!_isWarm)
        {
            _isWarm = true;
            fleet.Generator.WarmUp(Server(), protocol, workload, fleet.KeysOf(workload), seconds);
        }
    }

    public Sample Measure(int round) => fleet.Generator.Measure(Server(), protocol, workload, fleet.KeysOf(workload), seconds).ToSample();

    public void Dispose()
    {
        // The fleet owns the server.
    }

    private ServerProcess Server() => fleet.Get(program, protocol, workload);
}
