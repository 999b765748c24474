using System.Reflection;
using Cairn.Caching.Tests.Levels;
using Xunit.Sdk;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>
/// The tests of the contract with Microsoft's implementation in place of this one. Each passes, or fails because of a difference that
/// docs/how-to/migrate.md names.
/// </summary>
public sealed class ContractOverMicrosoftsTests
{
    // Longer than any test that passes takes on a slow machine.
    private static readonly TimeSpan s_longest = TimeSpan.FromSeconds(60);

    // A test that never ends does not end in this time either.
    private static readonly TimeSpan s_glance = TimeSpan.FromMilliseconds(200);

    private static readonly Dictionary<string, MethodInfo> s_tests = typeof(ContractOverMicrosoftsTests).Assembly.GetTypes()
        .SelectMany(type => type.GetMethods())
        .Where(method => method.IsDefined(typeof(RunsOverMicrosoftsAttribute)))
        .ToDictionary(method => method.Name, StringComparer.Ordinal);

    private const string Removals = "`RemoveAsync` or `RemoveByTagAsync` while the factory runs";
    private const string Sets = "`SetAsync` while the factory runs";
    private const string Hangs = "A second level that hangs";
    private const string Throws = "A second level that throws on a removal";
    private const string OwnKey = "A factory that asks for its own key, also through other factories";

    // The tests that show a difference, and the row of the guide that names it. "test, arguments" is for these arguments, and counts before "test".
    private static readonly Dictionary<string, (Outcome Outcome, string Row)> s_differences = new(StringComparer.Ordinal)
    {
        [nameof(ContractTests.Tag_removed_while_the_factory_runs_has_the_value_made_again)] = (Outcome.Fails, Removals),
        [$"{nameof(ContractTests.Tag_removed_while_the_factory_runs_has_the_value_made_again)}, {CachesUnderTest.Hanging}"] = (Outcome.NeverEnds, Hangs),
        [nameof(ContractTests.Key_removed_while_the_factory_runs_has_the_value_made_again)] = (Outcome.Fails, Removals),
        [$"{nameof(ContractTests.Key_removed_while_the_factory_runs_has_the_value_made_again)}, {CachesUnderTest.Hanging}"] = (Outcome.NeverEnds, Hangs),
        [nameof(ContractTests.Value_set_while_the_factory_runs_wins)] = (Outcome.Fails, Sets),
        [$"{nameof(ContractTests.Value_set_while_the_factory_runs_wins)}, {CachesUnderTest.Hanging}"] = (Outcome.NeverEnds, Hangs),
        [nameof(ContractTests.Tagged_value_is_kept_in_the_first_level_while_the_second_cannot_return_stamps_and_goes_with_its_tag)] = (Outcome.Fails, Throws),
        [nameof(ContractTests.Tag_removed_on_one_node_is_removed_from_the_other_that_had_it_cached)] = (Outcome.Fails, "A tag invalidated on another machine"),
        [$"{nameof(ContractTests.Values_that_a_factory_sets_in_its_context_stay_there)}, {CachesUnderTest.Throwing}"] = (Outcome.Fails, Throws),
        [$"{nameof(ContractTests.Values_that_a_factory_sets_in_its_context_stay_there)}, {CachesUnderTest.Hanging}"] = (Outcome.NeverEnds, Hangs),
        [nameof(ContractTests.Second_level_that_hangs_delays_no_caller_beyond_the_time_out)] = (Outcome.NeverEnds, Hangs),
        [$"{nameof(ContractTests.Second_level_that_hangs_delays_no_caller_beyond_the_time_out)}, set, {nameof(Fault.Hang)}"] = (Outcome.Passes, Hangs),
        [$"{nameof(ContractTests.Second_level_that_hangs_delays_no_caller_beyond_the_time_out)}, set, {nameof(Fault.HangIgnoringCancellation)}"] = (Outcome.Passes, Hangs),
        [nameof(ContractTests.Factory_that_asks_for_its_own_key_is_refused)] = (Outcome.NeverEnds, OwnKey),
        [nameof(ContractTests.Two_threads_that_want_50000_keys_run_50000_factories)] = (Outcome.Varies, "Two threads, one missing key"),
        [nameof(ContractTests.Two_nodes_that_want_one_key_run_one_factory)] = (Outcome.Fails, "Several processes, one missing key"),
        [$"{nameof(ContractTests.Second_caller_shares_the_factory_of_a_first_one_that_cancels)}, {CachesUnderTest.Hanging}"] = (Outcome.NeverEnds, Hangs),
        [nameof(FactoryTests.Token_that_is_cancelled_before_runs_no_factory_but_has_what_is_there)] = (Outcome.Fails, "A hit with a token that was cancelled before"),
        [nameof(ReentrancyTests.Two_factories_that_request_each_others_key_do_not_block_each_other)] = (Outcome.NeverEnds, OwnKey),
        [nameof(ReentrancyTests.Circle_of_three_through_inner_factories_is_found)] = (Outcome.NeverEnds, OwnKey),
        [nameof(ValueTests.Value_of_another_type_is_replaced_for_all_nodes)] = (Outcome.Fails, "A value of another type in the second level"),
        [nameof(ValueTests.Set_that_leaves_out_the_first_level_leaves_no_older_value_there)] = (Outcome.Fails, "`SetAsync` with `DisableLocalCacheWrite`"),
    };

    private enum Outcome
    {
        Passes,
        Fails,
        NeverEnds,

        /// <summary>Depends on the order in which threads run.</summary>
        Varies,
    }

    internal static IEnumerable<string> RowsOfDifferences => s_differences.Values.Select(difference => difference.Row);

    public static TheoryData<string, int> Runs
    {
        get
        {
            var runs = new TheoryData<string, int>();
            foreach ((string name, MethodInfo method) in s_tests)
            {
                for (int i = 0; i < ArgumentsOf(method).Length; i++)
                {
                    runs.Add(name, i);
                }
            }

            return runs;
        }
    }

    [Theory]
    [MemberData(nameof(Runs))]
    public async Task Test_passes_or_shows_a_difference_that_the_guide_names(string test, int arguments)
    {
        MethodInfo method = s_tests[test];
        object[] values = ArgumentsOf(method)[arguments];
        Outcome expected = s_differences.TryGetValue($"{test}, {string.Join(", ", values)}", out (Outcome Outcome, string Row) difference)
            || s_differences.TryGetValue(test, out difference) ? difference.Outcome : Outcome.Passes;

        (Outcome outcome, string fault) = await OutcomeAsync(method, values, expected == Outcome.NeverEnds ? s_glance : s_longest);

        Assert.True(
            expected == Outcome.Varies ? outcome is Outcome.Passes or Outcome.Fails : outcome == expected,
            $"{string.Join(", ", values)}: expected: {expected}; actual: {outcome}. {fault}");
    }

    [Fact]
    public void Guide_has_the_row_of_each_difference()
    {
        string guide = File.ReadAllText(RepositoryFile.At("docs", "how-to", "migrate.md"));

        Assert.All(s_differences.Values, difference => Assert.Contains($"| {difference.Row} |", guide, StringComparison.Ordinal));
        Assert.All(s_differences.Keys, test => Assert.Contains(test.Split(',')[0], s_tests.Keys));
    }

    // Microsoft's implementation cannot use a store.
    private static object[][] ArgumentsOf(MethodInfo method) =>
    [
        .. method.GetCustomAttributes<DataAttribute>().SelectMany(data => data.GetData(method)).DefaultIfEmpty([])
            .Where(arguments => !arguments.Contains(CachesUnderTest.Store)),
    ];

    private static async Task<(Outcome Outcome, string Fault)> OutcomeAsync(MethodInfo method, object[] arguments, TimeSpan longest)
    {
        CachesUnderTest.UsesMicrosofts = true;
        Task running = Task.Run(() => (Task)method.Invoke(Activator.CreateInstance(method.DeclaringType!), arguments)!);
        CachesUnderTest.UsesMicrosofts = false;
        if (await Task.WhenAny(running, Task.Delay(longest)) != running) // A test that never ends on the other implementation is a known difference.
        {
            return (Outcome.NeverEnds, "");
        }

#pragma warning disable CA1031, VSTHRD003 // The exception is the outcome of the test. The task has ended.
        try
        {
            await running;
            return (Outcome.Passes, "");
        }
        catch (Exception fault)
        {
            return (Outcome.Fails, fault.Message);
        }
#pragma warning restore CA1031, VSTHRD003
    }
}
