using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

// The servers of a run. Each is started and filled when it is first needed and runs until the end. Its memory costs the others
// nothing, and each server has worked for a while when it is measured.
internal sealed class ServerFleet(LoadGenerator generator, string folder, int keys) : IDisposable
{
    private readonly Dictionary<(ServerProgram, WireProtocol, bool IsUnix), ServerProcess> _running = [];
    private readonly Dictionary<ServerProgram, string> _broken = [];

    public LoadGenerator Generator => generator;

    public int Keys => keys;

    /// <summary>Returns a server with all keys set; starts it if necessary.</summary>
    /// <exception cref="PeerUnavailableException">It cannot be started.</exception>
    public ServerProcess Get(ServerProgram program, WireProtocol protocol, bool isUnix)
    {
        if (_running.TryGetValue((program, protocol, isUnix), out var running))
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
            var server = ServerProcess.Start(program, protocol, home, isUnix);
            _running.Add((program, protocol, isUnix), server);
            generator.SetKeys(server.Address, protocol, keys);
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
            fleet.Generator.WarmUp(Server(), protocol, workload, fleet.Keys, seconds);
        }
    }

    public Sample Measure(int round) => fleet.Generator.Measure(Server(), protocol, workload, fleet.Keys, seconds).ToSample();

    public void Dispose()
    {
        // The fleet owns the server.
    }

    private ServerProcess Server() => fleet.Get(program, protocol, workload.IsUnix);
}
