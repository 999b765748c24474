using System.Globalization;
using Cairn.Caching.Levels;

namespace Cairn.Caching.Tests.Levels;

/// <summary>
/// Random changes through two caches over one faulty instance, checked against a model. After each fault, no reader finds a value whose
/// replacement, removal or clear was acknowledged. This holds in this process at once, and everywhere after the instance works again.
/// </summary>
public class DistributedModelTests
{
    private const int Keys = 6;
    private const int Operations = 250;

    private static readonly Fault[] s_anyFault =
    [
        Fault.ThrowSynchronously, Fault.Throw, Fault.ThrowAfterDoing, Fault.ReturnNull, Fault.Hang, Fault.HangIgnoringCancellation,
        Fault.HangIgnoringCancellation,
    ];

    // Only reads return wrong results. A cache that reports a removal that it did not perform cannot be protected against.
    private static readonly Fault[] s_readFault = [.. s_anyFault, Fault.Forget, Fault.LieWithOtherKey, Fault.Tear, Fault.Garbage];

    [Theory]
    [InlineData(1, 5)]
    [InlineData(2, 5)]
    [InlineData(3, int.MaxValue)]
    [InlineData(4, int.MaxValue)]
    [InlineData(5, int.MaxValue)]
    [InlineData(6, 2)]
    public async Task Acknowledged_change_is_never_undone(int seed, int breakAfterFailures)
    {
        var run = new Run(seed, breakAfterFailures);

        await run.GoAsync();

        Assert.True(run.Hits > 10, $"Only {run.Hits} reads found a value: the run says little.");
    }

    private sealed class Run
    {
        private readonly Random _random;
        private readonly FaultyDistributedCache _cache;
        private readonly ManualClock _clock = new(hasTimers: true);
        private readonly LevelUnderTest[] _levels;
        private readonly int _seed;

        // The newest acknowledged number of each key; null if the key was removed.
        private readonly int?[] _model = new int?[Keys];
        private readonly HashSet<ulong>[] _deadStamps = [[], []];
        private readonly ulong[] _stamps = new ulong[2];
        private int _faultPercent;
        private int _number;

        public Run(int seed, int breakAfterFailures)
        {
            _seed = seed;
            _random = new Random(seed);
            _cache = new FaultyDistributedCache(seed) { Script = Decide };
            var options = new DistributedLevelOptions { BreakAfterFailures = breakAfterFailures, EraInterval = TimeSpan.FromMilliseconds(200) };
            _levels = [new(_cache, _clock, options), new(_cache, _clock, options)];
        }

        public int Hits { get; private set; }

        public async Task GoAsync()
        {
            for (int i = 0; i < Operations; i++)
            {
                lock (_random)
                {
                    // Alternates between phases without and with faults.
                    _faultPercent = (i / 25 % 3) switch { 0 => 0, 1 => 30, _ => 70 };
                }

                await StepAsync();
                if (i % 8 == 7)
                {
                    _cache.LetGo();
                }
            }

            lock (_random)
            {
                _faultPercent = 0;
            }

            _cache.LetGo();
            await LevelUnderTest.AdvanceUntilAsync(_clock, () => _cache.Hanging == 0 && _levels[0].Level.PendingChanges == 0);
            await CheckAsync(_levels[0], "in the end");
            await using var afterwards = new LevelUnderTest(Copy());
            await CheckAsync(afterwards, "in another process in the end");
            await _levels[0].DisposeAsync();
            await _levels[1].DisposeAsync();
        }

        private async Task StepAsync()
        {
            LevelUnderTest level = _levels[Next(2)];
            int key = Next(Keys);
            int tag = Next(2);
            switch (Next(40))
            {
                case < 12:
                    int number = ++_number;
                    await AcknowledgedAsync(level, () => level.WriteAsync($"{key}", Text(key, number)));
                    _model[key] = number;
                    break;
                case < 16:
                    await AcknowledgedAsync(level, () => level.RemoveAsync($"{key}"));
                    _model[key] = null;
                    break;
                case 16 or 17:
                    await AcknowledgedAsync(level, () => level.RenewAsync($"tag{tag}"));
                    Bury(tag);
                    break;
                case 18:
                    await AcknowledgedAsync(level, () => level.Level.ClearAsync(CancellationToken.None).AsTask());
                    Array.Clear(_model);
                    Bury(0);
                    Bury(1);
                    break;
                case < 24:
                    await CheckStampAsync(level, tag);
                    break;
                default:
                    await CheckKeyAsync(level, key, "meanwhile");
                    break;
            }
        }

        private async Task CheckAsync(LevelUnderTest level, string when)
        {
            for (int key = 0; key < Keys; key++)
            {
                await CheckKeyAsync(level, key, when);
            }

            await CheckStampAsync(level, 0);
            await CheckStampAsync(level, 1);
        }

        private async Task CheckKeyAsync(LevelUnderTest level, int key, string when)
        {
            string? found = await level.AdvanceUntilDoneAsync(level.ReadAsync($"{key}"));

            // An envelope detects values of other keys, and torn and foreign ones; here the text does.
            string[] parts = found?.Split('|') ?? [];
            if (parts.Length == 3 && parts[0] == $"{key}" && parts[2] == "end")
            {
                Hits++;
                int number = int.Parse(parts[1], CultureInfo.InvariantCulture);
                Assert.True(number == _model[key], $"Seed {_seed}: key {key} is {number} {when}, and should be {_model[key]?.ToString(CultureInfo.InvariantCulture) ?? "removed"}.");
            }
        }

        private async Task CheckStampAsync(LevelUnderTest level, int tag)
        {
            ulong stamp = await level.AdvanceUntilDoneAsync(level.StampAsync($"tag{tag}"));
            Assert.False(_deadStamps[tag].Contains(stamp), $"Seed {_seed}: tag {tag} has a stamp that was renewed.");
            if (LevelUnderTest.IsKnown(stamp))
            {
                _stamps[tag] = stamp;
            }
        }

        private void Bury(int tag)
        {
            if (_stamps[tag] != 0)
            {
                _deadStamps[tag].Add(_stamps[tag]);
            }
        }

        private static async Task AcknowledgedAsync(LevelUnderTest level, Func<Task<LevelStatus>> change) =>
            Assert.Contains(await level.AdvanceUntilDoneAsync(change()), new[] { LevelStatus.Done, LevelStatus.Failed });

        private static string Text(int key, int number) => string.Create(CultureInfo.InvariantCulture, $"{key}|{number}|end");

        private FaultyDistributedCache Copy()
        {
            var copy = new FaultyDistributedCache();
            foreach ((string key, byte[] value) in _cache.Content)
            {
                copy.Content[key] = value;
            }

            return copy;
        }

        private int Next(int end)
        {
            lock (_random)
            {
                return _random.Next(end);
            }
        }

        private Fault Decide(string operation, string key)
        {
            lock (_random)
            {
                Fault[] faults = operation == "get" ? s_readFault : s_anyFault;
                return _random.Next(100) < _faultPercent ? faults[_random.Next(faults.Length)] : Fault.None;
            }
        }
    }
}
