using System.Reflection;
using System.Runtime.CompilerServices;

namespace Cairn.Tests;

/// <summary>
/// Runs tests of this assembly on a system without a test runner, for which the assembly was published with its own runtime or as a native binary.
/// Prints one line for each test, including skipped ones, and then the numbers of passed and failed tests.
/// </summary>
internal static class TestsByName
{
    /// <summary>CLASS..., or CLASS.METHOD: names below Cairn.Tests.</summary>
    public static void Run(string[] args)
    {
        // Reflection must not emit code: the emitted code is collected some time later, and the runtime does not survive that under Wine.
        AppContext.SetSwitch("Switch.System.Reflection.ForceInterpretedInvoke", true);
        int passed = 0;
        int failed = 0;
        foreach ((Type type, MethodInfo method, object?[] arguments) in args.Where(name => name != "-v").SelectMany(Find))
        {
            string name = $"{type.Name}.{method.Name}({string.Join(", ", arguments.Select(argument => argument ?? "null"))})";
            FactAttribute fact = method.GetCustomAttribute<FactAttribute>()!;
            if (fact.Skip is not null)
            {
                Console.WriteLine($"skipped {name}: {fact.Skip}");
            }
            else if (TryRun(type, method, arguments) is not { } failure)
            {
                passed++;
                Console.WriteLine($"passed {name}");
            }
            else if (!RuntimeFeature.IsDynamicCodeSupported && failure.ToString() is var text
                && text.Contains("missing native code", StringComparison.Ordinal) && text.Contains("Xunit.", StringComparison.Ordinal))
            {
                Console.WriteLine($"skipped {name}: this assertion of xunit creates code");
            }
            else
            {
                failed++;
                Console.WriteLine($"failed {name}: {failure.GetType().Name}: {failure.Message.ReplaceLineEndings(" ")} {(args[0] == "-v" ? failure.StackTrace : null)}");
            }
        }

        Console.WriteLine($"{passed} passed, {failed} failed");
        if (failed > 0)
        {
            Environment.Exit(1);
        }
    }

    private static IEnumerable<(Type Type, MethodInfo Method, object?[] Arguments)> Find(string name)
    {
        Assembly assembly = typeof(TestsByName).Assembly;
        Type? type = assembly.GetType($"Cairn.Tests.{name}");
        string? methodName = null;
        if (type is null)
        {
            int dot = name.LastIndexOf('.');
            type = assembly.GetType($"Cairn.Tests.{name[..dot]}", throwOnError: true)!;
            methodName = name[(dot + 1)..];
        }

        return
            from method in type.GetMethods()
            where methodName is null || method.Name == methodName
            where method.GetCustomAttribute<FactAttribute>() is not null
            from arguments in ArgumentsOf(method)
            select (type, method, arguments);
    }

    private static IEnumerable<object?[]> ArgumentsOf(MethodInfo method) =>
        method.GetCustomAttribute<TheoryAttribute>() is null
            ? [[]]
            : method.GetCustomAttributes().OfType<Xunit.Sdk.DataAttribute>().SelectMany(data => data.GetData(method) ?? [])
                .Select(arguments => (arguments ?? [null]).Zip(method.GetParameters(), (argument, parameter) =>
                    argument is int number && parameter.ParameterType == typeof(long) ? (long)number : argument).ToArray());

    // Reflection calls this method, so it catches every exception. An exception that passes through native frames of the runtime crashes Wine.
    private static Exception? Call1<T>(MethodInfo method, object test, object?[] arguments) =>
        Caught(() => method.ReturnType == typeof(void)
            ? Done(() => method.CreateDelegate<Action<T>>(test)((T)arguments[0]!))
            : method.CreateDelegate<Func<T, Task>>(test)((T)arguments[0]!));

    private static Exception? Call2<T1, T2>(MethodInfo method, object test, object?[] arguments) =>
        Caught(() => method.ReturnType == typeof(void)
            ? Done(() => method.CreateDelegate<Action<T1, T2>>(test)((T1)arguments[0]!, (T2)arguments[1]!))
            : method.CreateDelegate<Func<T1, T2, Task>>(test)((T1)arguments[0]!, (T2)arguments[1]!));

    private static Exception? Call3<T1, T2, T3>(MethodInfo method, object test, object?[] arguments) =>
        Caught(() => method.ReturnType == typeof(void)
            ? Done(() => method.CreateDelegate<Action<T1, T2, T3>>(test)((T1)arguments[0]!, (T2)arguments[1]!, (T3)arguments[2]!))
            : method.CreateDelegate<Func<T1, T2, T3, Task>>(test)((T1)arguments[0]!, (T2)arguments[1]!, (T3)arguments[2]!));

    // A native binary has no code for the generic methods above.
    private static Exception? CallCompiled(MethodInfo method, object test, object?[] arguments) =>
        Caught(() => method.Invoke(test, BindingFlags.DoNotWrapExceptions, binder: null, arguments, culture: null) as Task ?? Task.CompletedTask);

    private static Task Done(Action action)
    {
        action();
        return Task.CompletedTask;
    }

    private static Exception? Caught(Func<Task> test)
    {
        try
        {
#pragma warning disable VSTHRD002 // One test after the other, in a process that does nothing else.
            test().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
            return null;
        }
#pragma warning disable CA1031 // Reports any exception.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            return failure;
        }
    }

    private static Exception? TryRun(Type type, MethodInfo method, object?[] arguments)
    {
        object test = Activator.CreateInstance(type)!;
        try
        {
            return !RuntimeFeature.IsDynamicCodeSupported ? CallCompiled(method, test, arguments)
                : arguments.Length == 0
                ? Caught(() => method.ReturnType == typeof(void) ? Done(method.CreateDelegate<Action>(test)) : method.CreateDelegate<Func<Task>>(test)())
                : (Exception?)typeof(TestsByName).GetMethod($"Call{arguments.Length}", BindingFlags.NonPublic | BindingFlags.Static)!
                    .MakeGenericMethod([.. method.GetParameters().Select(parameter => parameter.ParameterType)]).Invoke(null, [method, test, arguments]);
        }
        finally
        {
            try
            {
                (test as IDisposable)?.Dispose();
            }
            catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
            {
                Console.WriteLine($"  afterwards: {failure.Message}");
            }
        }
    }
}
