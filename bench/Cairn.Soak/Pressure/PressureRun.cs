using System.Diagnostics;

namespace Cairn.Soak.Pressure;

/// <summary>Measures the steady clients alone and beside the crowd, in turns. Also measures the server's memory after the crowd has left.</summary>
internal static class PressureRun
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan TimeToReturn = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LongestReturn = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan LookPeriod = TimeSpan.FromMilliseconds(50);

    /// <param name="options">The options of the run.</param>
    /// <param name="isBack">
    /// Returns whether the server has released its memory, from its bytes now and before. The run waits for it at most a minute. Null to measure
    /// after 10 seconds.
    /// </param>
    public static PressureResult Run(PressureOptions options, Func<long, long, bool>? isBack = null)
    {
        using PressedServer server = PressedServer.Start(options);
        using PressedServer? apart = options.IsCrowdApart ? PressedServer.Start(options, "apart", stepsBack: true) : null;
        using var steady = new SteadyLoad(server.Port, options.SteadyClients);
        double capacity = double.NaN;
        if (options.RequestsPerSecond is null)
        {
            steady.Run(WarmUp, perSecond: null);
            capacity = steady.Run(options.Phase, perSecond: null).Requests / options.Phase.TotalSeconds;
        }

        double rate = options.RequestsPerSecond ?? (capacity / 10);
        steady.Run(WarmUp, rate);
        long idle = server.AnonymousBytes;
        var rounds = new List<PressureRound>();
        for (int round = 0; round < options.Rounds; round++)
        {
            rounds.Add(Round());
        }

        return new PressureResult(capacity, rate, idle, rounds, server.Memory);

        PressureRound Round()
        {
            SteadyFigures alone = steady.Run(options.Phase, rate);
            int from = server.Memory.Count;
            CrowdFigures figures;
            SteadyFigures pressed;
            double cpu;
            using (var crowd = new Crowd(apart ?? server, options.SlowReaders, options.GreedyClients))
            {
                while (!crowd.IsGreeted)
                {
                    steady.Run(WarmUp, rate);
                }

                steady.Run(WarmUp, rate);
                double before = server.CpuSeconds;
                long began = Stopwatch.GetTimestamp();
                pressed = steady.Run(options.Phase, rate);
                cpu = (server.CpuSeconds - before) / Stopwatch.GetElapsedTime(began).TotalSeconds;
                figures = crowd.Leave();
            }

            long left = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(left) < (isBack is null ? TimeToReturn : LongestReturn) && isBack?.Invoke(server.AnonymousBytes, idle) != true)
            {
                Thread.Sleep(LookPeriod);
            }

            return new PressureRound(alone, pressed, figures, server.Memory.Skip(from).Max(sample => sample.Bytes), server.AnonymousBytes, cpu);
        }
    }
}
