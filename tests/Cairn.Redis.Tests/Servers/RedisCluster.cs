using System.Globalization;

namespace Cairn.Redis.Tests.Servers;

/// <summary>A Cluster of three masters. The first of them has a replica.</summary>
internal sealed class RedisCluster : IDisposable
{
    private const int Masters = 3;
    private const string TimeOut = "cluster-node-timeout";

    // In milliseconds. With the short time-out the servers find each other soon, and soon replace one that ended. A busy machine must not have that effect.
    private const string ShortTimeOut = "1000";
    private const string LongTimeOut = "60000";

    private readonly List<RedisServer> _servers = [];

    private RedisCluster()
    {
    }

    /// <summary>Gets the masters in the order of their slots, and then the replica of the first one.</summary>
    public IReadOnlyList<RedisServer> Servers => _servers;

    public RedisServer Replica => _servers[Masters];

    /// <summary>Gets a configuration that names two of the nodes.</summary>
    public string Configuration => Addresses + RedisServer.Patience;

    public string Addresses => _servers[1].Address + "," + _servers[2].Address;

    public static async Task<RedisCluster> StartAsync()
    {
        var cluster = new RedisCluster();
        try
        {
            for (int i = 0; i <= Masters; i++)
            {
                cluster._servers.Add(RedisServer.Start(
                    "--cluster-enabled", "yes", "--" + TimeOut, ShortTimeOut, "--cluster-replica-validity-factor", "0",
                    "--repl-diskless-sync-delay", "0"));
            }

            string[] addresses = [.. cluster._servers.Take(Masters).Select(server => server.Address)];
            cluster.Servers[0].Cli(["--cluster", "create", .. addresses, "--cluster-yes"]);
            await cluster.WaitAsync(Masters, server => server.Cli("CLUSTER", "INFO").Contains("cluster_state:ok", StringComparison.Ordinal), "slots");
            string master = cluster.Servers[0].Cli("CLUSTER", "MYID");
            cluster.Replica.Cli("CLUSTER", "MEET", "127.0.0.1", cluster.Servers[0].Port.ToString(CultureInfo.InvariantCulture));
            await cluster.WaitAsync(Masters + 1, server => server.Cli("CLUSTER", "NODES").Split('\n').Length == Masters + 1, "all nodes");
            await Eventually.TrueAsync(
                () => cluster.Replica.Cli("CLUSTER", "REPLICATE", master).StartsWith("OK", StringComparison.Ordinal), "the replica's consent");
            await Eventually.TrueAsync(
                () => cluster.Replica.Cli("INFO", "replication").Contains("master_link_status:up", StringComparison.Ordinal), "the replica's copy");
            await cluster.WaitAsync(Masters + 1, server => server.Cli("CLUSTER", "NODES").Contains("slave", StringComparison.Ordinal), "the replica");
            cluster.SetTimeOut(LongTimeOut);
            await cluster.WaitAsync(
                Masters + 1,
                server => server.Cli("CLUSTER", "INFO").Contains("cluster_state:ok", StringComparison.Ordinal)
                    && !server.Cli("CLUSTER", "NODES").Contains("fail", StringComparison.Ordinal),
                "no failure");
            return cluster;
        }
        catch
        {
            cluster.Dispose();
            throw;
        }
    }

    /// <summary>Ends the first master. The other masters soon find that, and let its replica take its place.</summary>
    public void KillFirstMaster()
    {
        SetTimeOut(ShortTimeOut);
        _servers[0].Kill();
    }

    public void Dispose() => _servers.ForEach(server => server.Dispose());

    private void SetTimeOut(string milliseconds) => _servers.ForEach(server => server.Cli("CONFIG", "SET", TimeOut, milliseconds));

    private async Task WaitAsync(int servers, Func<RedisServer, bool> condition, string what)
    {
        foreach (RedisServer server in _servers.Take(servers))
        {
            await Eventually.TrueAsync(() => condition(server), $"{server.Address} knows of {what}");
        }
    }
}
