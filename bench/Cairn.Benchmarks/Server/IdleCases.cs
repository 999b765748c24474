using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

/// <summary>Measures what the server costs before the first request: its start time and its memory.</summary>
internal static class IdleCases
{
    private const int FullStoreKeys = 5_000_000;
    private const int Connections = 5_000;
    private const double NsPerMs = 1e6;
    private const double BytesPerMib = 1 << 20;

    public static void Measure(AreaRun run, CairnServerProgram program, LoadGenerator generator, bool isNative)
    {
        var empty = new Finding("first answer, new store", program.Name, "1 ms") { Goal = Goal.AtMost(isNative ? 30 : 100) };
        var warm = new Finding("first answer, 1 GiB warm store", program.Name, "1 ms") { Goal = Goal.AtMost(isNative ? 20 : 100) };
        var memory = new Finding("resident beside the mapped file, idle", program.Name, "1 MiB") { Goal = Goal.AtMost(isNative ? 20 : 40) };
        var clients = new Finding($"resident for {Connections} idle connections", program.Name, "1 MiB") { Goal = Goal.AtMost(20) };
        run.Check($"start and memory, {program.LoopName}", [empty, warm, memory, clients], () =>
        {
            var rounds = run.Settings.Rounds ?? (run.Settings.IsQuick ? 1 : 9);
            var folder = Path.Combine(run.Settings.Folder, "idle");
            var starts = new List<double>();
            for (var round = 0; round < rounds; round++)
            {
                using (var server = Start(folder))
                {
                    starts.Add(server.FirstAnswerAfter.TotalNanoseconds);
                }

                Directory.Delete(folder, recursive: true);
            }

            // As after a restart in production: every key is in the file.
            using (var server = Start(folder))
            {
                generator.SetKeys(server.Address, WireProtocol.Memcached, run.Settings.IsQuick ? FullStoreKeys / 50 : FullStoreKeys);
            }

            var warmStarts = new List<double>();
            var residents = new List<double>();
            var connected = new List<double>();
            for (var round = 0; round < rounds; round++)
            {
                using var server = Start(folder);
                warmStarts.Add(server.FirstAnswerAfter.TotalNanoseconds);
                var mappedPath = CairnServerProgram.StorePath(folder);
                double idle = server.ResidentBytesBeside(mappedPath);
                residents.Add(idle / BytesPerMib);
                var sockets = server.Connect(Connections);
                WaitUntilAccepted(server);
                connected.Add((server.ResidentBytesBeside(mappedPath) - idle) / BytesPerMib);
                foreach (var socket in sockets)
                {
                    socket.Dispose();
                }
            }

            return
            [
                WithTimes(empty, starts),
                WithTimes(warm, warmStarts),
                memory with { Ratio = Statistics.Median(residents) },
                clients with { Ratio = Statistics.Median(connected) },
            ];
        });

        // Not pinned to a core: a starting server may use the whole machine.
        ServerProcess Start(string folder)
        {
            using var priority = run.Settings.IsRealTime ? new RealTimePriority() : null;
            return ServerProcess.Start(program, WireProtocol.Memcached, folder, isUnix: false, isPinned: false);
        }
    }

    // The server accepts connections in order. When the last one gets an answer, all others were accepted.
    private static void WaitUntilAccepted(ServerProcess server)
    {
        using var last = server.Connect(1)[0];
        last.Send("get a\r\n"u8);
        Span<byte> answer = stackalloc byte[64];
        last.Receive(answer);
    }

    private static Finding WithTimes(Finding pending, List<double> wallNs)
    {
        var median = Statistics.Median(wallNs);
        return pending with { Measured = new Sample(CpuNs: median, WallNs: median, BytesAllocated: 0), Ratio = median / NsPerMs };
    }
}
