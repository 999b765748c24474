using System.Globalization;
using System.Runtime.CompilerServices;
using Xunit.Abstractions;
using Xunit.Sdk;

namespace Cairn.Protocol;

/// <summary>
/// Many random inputs for one check. The report of a failure contains its seed, its number, the input, and the command that repeats it.
/// CAIRN_FUZZ=long selects a run of 100 million inputs. CAIRN_FUZZ_SEED repeats a run.
/// </summary>
internal sealed class FuzzRun
{
    private const string LengthVariable = "CAIRN_FUZZ";
    private const string SeedVariable = "CAIRN_FUZZ_SEED";

    private readonly string _test;
    private readonly int _seed;
    private readonly int _part;

    /// <param name="part">Each part of a long run has inputs of its own. A part is so short that it does not look like a hang.</param>
    public FuzzRun(ITestOutputHelper output, int part = 0, [CallerMemberName] string test = "")
    {
        _test = test;
        _part = part;
        _seed = int.TryParse(Environment.GetEnvironmentVariable(SeedVariable), NumberStyles.None, CultureInfo.InvariantCulture, out int seed)
            ? seed
            : Random.Shared.Next();
        output.WriteLine($"Seed {_seed}. Again: {Replay}");
    }

    /// <summary>Gets the parts of a run, for a theory.</summary>
    public static TheoryData<int> Parts => [.. Enumerable.Range(0, Count(inShort: 1, inLong: 20))];

    public delegate void Make(Random random, InputBuilder input);

    public delegate void Check(Random random, ReadOnlySpan<byte> input);

    private static bool IsLong { get; } = Environment.GetEnvironmentVariable(LengthVariable) == "long";

    private string Replay => $"{(IsLong ? $"{LengthVariable}=long " : "")}{SeedVariable}={_seed} ./test protocol --filter {_test}";

    /// <summary>Returns <paramref name="inLong"/> in a long run, and <paramref name="inShort"/> otherwise.</summary>
    public static int Count(int inShort, int inLong) => IsLong ? inLong : inShort;

    public void Go(int count, Make make, Check check)
    {
        using var guarded = new GuardedMemory();
        var random = new Random(unchecked(_seed + (_part * 1_000_003)));
        var input = new InputBuilder();
        for (int i = 0; i < count; i++)
        {
            input.Clear();
            make(random, input);
            var placed = guarded.Place(input.Written);
            try
            {
                check(random, placed);
            }
            catch (Exception exception)
            {
                throw new XunitException(
                    $"Seed {_seed}, part {_part}, input {i}: {Escape(input.Written)}\nAgain: {Replay}\n{exception.Message}", exception);
            }
        }
    }

    private static string Escape(ReadOnlySpan<byte> input) =>
        string.Concat(Latin.Text(input).Select(c => c is >= ' ' and < '\x7F' ? c.ToString() : $"\\x{(int)c:X2}"));
}
