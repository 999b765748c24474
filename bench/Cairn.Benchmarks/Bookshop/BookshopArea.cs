using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Bookshop;

// Runs the API of samples/Bookshop once for each read path. All instances of the API are on one core, and only one works at a time. The load
// and the database are on the other core. A query therefore costs the API only waiting time, which favours the paths that query the database.

/// <summary>Measures reading a book from a web API by every read path of the sample.</summary>
internal sealed class BookshopArea : IArea
{
    private const int FullRounds = 5;
    private const int QuickRounds = 1;
    private const double FullSeconds = 2;
    private const double QuickSeconds = 0.5;
    private const int FullBooks = 100_000;
    private const int QuickBooks = 5_000;
    private const string Constant = "constant";
    private const string Uncached = "ef";
    private const string WithRedis = "hybrid+redis";
    private const string Middleware = "output-cache-middleware";
    private const string Case = "GET /api/books/{id}";

    private static readonly string[] _paths = [Uncached, "ef-notracking", "dapper", "hybrid", "hybrid+store", WithRedis, "output-cache", Middleware];

    public string Name => "bookshop";

    public void Run(AreaRun run)
    {
        if (!WrkLoad.IsInstalled())
        {
            run.Log.Say("Nothing is measured: wrk is not installed (Debian package wrk), and nothing else makes the load.");
            return;
        }

        try
        {
            using var database = ShopDatabase.Start(Path.Combine(Path.GetTempPath(), Path.GetFileName(run.Settings.Folder)));
            Measure(run, database);
        }
        catch (PeerUnavailableException unavailable)
        {
            run.Log.Say($"Nothing is measured: {unavailable.Message}");
        }
    }

    private static void Measure(AreaRun run, ShopDatabase database)
    {
        var books = run.Settings.IsQuick ? QuickBooks : FullBooks;
        using var redis = ShopRedis.TryStart(run.Settings.Folder, run.Log);
        var load = new WrkLoad(
            Path.Combine(run.Settings.Root, "bench", "bookshop", "books.lua"), books, run.Settings.IsQuick ? QuickSeconds : FullSeconds, run.Settings.IsRealTime);
        var contenders = new Dictionary<string, ShopContender>(StringComparer.Ordinal);
        run.Measure("bookshop", run.Settings.IsQuick ? QuickRounds : FullRounds, group =>
        {
            foreach (var path in _paths.Where(path => path != WithRedis || redis is not null))
            {
                run.Log.Progress($"bookshop: starting the API with {path}");
                var shop = group.Own(ShopProcess.Start(run.Settings, path, database.ConnectionString, redis?.Configuration, books));
                contenders.Add(path, group.Enter(new ShopContender(path, shop, database, load, "/api/books/", run.Log)));
                if (path == "hybrid")
                {
                    // The same process, so that the read is the only difference.
                    contenders.Add(Constant, group.Enter(new ShopContender(Constant, shop, database, load, path: null, run.Log)));
                }
            }

            Ask("hybrid", Constant, Goal.AtLeast(0.95));
            Ask("hybrid", Uncached, Goal.AtLeast(12));
            Ask("hybrid+store", Constant, goal: null);
            Ask(WithRedis, Constant, goal: null);
            Ask("output-cache", Constant, Goal.AtLeast(1.15));
            Ask("output-cache", Uncached, Goal.AtLeast(12, stretch: 18));
            Ask(Middleware, Constant, goal: null);
            Ask("ef-notracking", Uncached, goal: null);
            Ask("dapper", Uncached, goal: null);

            void Ask(string subject, string peer, Goal? goal)
            {
                if (contenders.TryGetValue(subject, out var contender))
                {
                    group.Compare(Case, contender, contenders[peer], goal, Quantity.Throughput);
                }
            }
        });

        foreach (var name in (string[])[Constant, .. _paths])
        {
            if (contenders.TryGetValue(name, out var contender) && contender.Rounds.Count > 0)
            {
                run.Add(contender.ToFigure());
            }
        }
    }
}
