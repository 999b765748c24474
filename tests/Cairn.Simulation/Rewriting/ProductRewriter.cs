// Rewrites the product's assemblies beside the tests, so that all their work stays on the scheduler of the simulator (docs/decisions/0058):
//
//   ConfigureAwait(false)   becomes   ConfigureAwait(true), so that continuations return to the machine's SynchronizationContext
//   members of HookTable    become    calls of Hooks, and its types become those of the simulator
//   methods of Twins        begin with the question whether a broken twin takes their place
//
// A call that would still reach the runtime's time, threads or random numbers is an error.
using System.Text.RegularExpressions;
using Mono.Cecil;
using Mono.Cecil.Cil;

namespace Cairn.Simulation.Rewriting;

internal static class ProductRewriter
{
    private const string Simulator = "Cairn.Simulation";

    private static readonly string[] s_products = ["Cairn.Caching", "Cairn.Clients", "Cairn.Redis"];

    // Of the store, the hybrid cache uses only the hash of keys, whose seed is random.
    private const string Store = "Cairn";

    // The server gets its clock and its connections from the simulator. Only twins are added.
    private const string Server = "Cairn.Server";

    public static int Run(string folder)
    {
        List<string> errors = [];
        List<(string Path, byte[] Bytes)> results = [];
        using ModuleDefinition simulator = ModuleDefinition.ReadModule(Path.Combine(folder, $"{Simulator}.dll"));
        TypeDefinition hooks = simulator.GetType($"{Simulator}.Rewriting.Hooks");
        foreach (string name in (string[])[Store, Server, .. s_products])
        {
            string path = Path.Combine(folder, $"{name}.dll");
            byte[] original = File.ReadAllBytes(path);
            using var resolver = new DefaultAssemblyResolver();
            resolver.AddSearchDirectory(folder);
            using var module = ModuleDefinition.ReadModule(new MemoryStream(original), new ReaderParameters { AssemblyResolver = resolver });
            if (module.AssemblyReferences.Any(reference => reference.Name == Simulator))
            {
                continue; // Rewritten already.
            }

            if (name == Server)
            {
                AddTwins(module, hooks);
            }
            else
            {
                Rewrite(module, hooks, isStore: name == Store, errors);
            }

            var rewritten = new MemoryStream();
            module.Write(rewritten);
            results.Add((path, rewritten.ToArray()));
        }

        if (errors.Count > 0)
        {
            errors.ForEach(Console.Error.WriteLine);
            return 1;
        }

        foreach ((string path, byte[] bytes) in results)
        {
            string temporary = $"{path}.{Environment.ProcessId}";
            File.WriteAllBytes(temporary, bytes);
            File.Move(temporary, path, overwrite: true);
        }

        return 0;
    }

    /// <summary>Lists the calls of the product that leave it, with the types that make them.</summary>
    public static int ListCalls(string folder)
    {
        foreach (string name in s_products)
        {
            using var module = ModuleDefinition.ReadModule(Path.Combine(folder, $"{name}.dll"));
            foreach ((MethodDefinition method, Instruction call) in CallsOf(module))
            {
                Console.WriteLine($"{Signature((MethodReference)call.Operand)}\t{method.DeclaringType.FullName}");
            }
        }

        return 0;
    }

    private static void Rewrite(ModuleDefinition module, TypeDefinition hooks, bool isStore, List<string> errors)
    {
        foreach ((MethodDefinition method, Instruction call) in CallsOf(module).ToList())
        {
            var called = (MethodReference)call.Operand;
            string signature = Signature(called);
            if (isStore)
            {
                if (signature.StartsWith("System.Security.Cryptography.RandomNumberGenerator::Fill", StringComparison.Ordinal)
                    && method.DeclaringType.FullName.StartsWith("Cairn.Engine.KeyHasher", StringComparison.Ordinal))
                {
                    Replace(module, hooks, call, called);
                }

                continue;
            }

            if (called.Name == "ConfigureAwait" && called.Parameters.Count(parameter => parameter.ParameterType.FullName == "System.Boolean") == 1)
            {
                Instruction value = call.Previous;
                if (value.OpCode != OpCodes.Ldc_I4_0)
                {
                    errors.Add($"{method.FullName} passes no constant to ConfigureAwait.");
                    continue;
                }

                value.OpCode = OpCodes.Ldc_I4_1;
            }
            else if (called.Name == "ConfigureAwait" && called.Parameters is [{ ParameterType.Name: nameof(ConfigureAwaitOptions) }])
            {
                ILProcessor processor = method.Body.GetILProcessor();
                processor.InsertBefore(call, processor.Create(OpCodes.Ldc_I4, (int)ConfigureAwaitOptions.ContinueOnCapturedContext));
                processor.InsertBefore(call, processor.Create(OpCodes.Or));
            }
            else if (!HookTable.Harmless.Any(start => signature.StartsWith(start, StringComparison.Ordinal))
                && !Replace(module, hooks, call, called)
                && (HookTable.Forbidden.Any(start => signature.StartsWith(start, StringComparison.Ordinal)) || StartsOnCurrentScheduler(called))
                && !HookTable.NotSimulated.Any(start => method.DeclaringType.FullName.StartsWith(start, StringComparison.Ordinal))
                && !HookTable.Types.ContainsKey(called.DeclaringType.FullName))
            {
                errors.Add($"{method.FullName} calls {signature}, for which HookTable has no hook.");
            }
        }

        if (!isStore)
        {
            ReplaceTypes(module, hooks);
            AddTwins(module, hooks);
        }
    }

    // Without a scheduler, these use the current one, which is that of the runtime's threads in most work.
    private static bool StartsOnCurrentScheduler(MethodReference called) =>
        called.Name is "ContinueWith" or "StartNew" && !called.Parameters.Any(parameter => parameter.ParameterType.Name == "TaskScheduler");

    private static bool Replace(ModuleDefinition module, TypeDefinition hooks, Instruction call, MethodReference called)
    {
        TypeReference declaring = called.DeclaringType.GetElementType();
        if (!HookTable.Methods.TryGetValue($"{declaring.FullName}::{called.Name}", out string? name))
        {
            return false;
        }

        List<TypeReference> arguments = [];
        if (called.DeclaringType is GenericInstanceType ofType)
        {
            arguments.AddRange(ofType.GenericArguments);
        }

        if (called is GenericInstanceMethod ofMethod)
        {
            arguments.AddRange(ofMethod.GenericArguments);
        }

        IEnumerable<string> parameters = called.Parameters.Select(parameter => parameter.ParameterType.FullName);
        if (called.HasThis)
        {
            parameters = parameters.Prepend(declaring.FullName);
        }

        string wanted = Normal(string.Join(',', parameters));
        MethodDefinition? hook = hooks.Methods.FirstOrDefault(method => method.Name == name && method.GenericParameters.Count == arguments.Count
            && Normal(string.Join(',', method.Parameters.Select(parameter => parameter.ParameterType.FullName))) == wanted);
        if (hook is null)
        {
            return false;
        }

        MethodReference target = module.ImportReference(hook);
        if (arguments.Count > 0)
        {
            var generic = new GenericInstanceMethod(target);
            arguments.ForEach(generic.GenericArguments.Add);
            target = generic;
        }

        call.OpCode = OpCodes.Call;
        call.Operand = target;
        return true;
    }

    // Names of generic parameters and arguments differ between the member and its hook.
    private static string Normal(string parameters) =>
        Regex.Replace(parameters, "!!0|!0|TResult", "T").Replace("Task`1<T>", "Task`1", StringComparison.Ordinal);

    private static void ReplaceTypes(ModuleDefinition module, TypeDefinition hooks)
    {
        foreach (TypeReference reference in module.GetTypeReferences())
        {
            if (HookTable.Types.TryGetValue(reference.FullName, out string? other))
            {
                TypeReference imported = module.ImportReference(hooks.Module.GetType(other));
                reference.Scope = imported.Scope;
                (reference.Namespace, reference.Name) = (imported.Namespace, imported.Name);
            }
        }
    }

    private static void AddTwins(ModuleDefinition module, TypeDefinition hooks)
    {
        MethodReference isBroken = module.ImportReference(hooks.Methods.Single(method => method.Name == nameof(Hooks.IsBroken)));
        foreach (Twin twin in Twins.OfProduct)
        {
            if (module.GetType(twin.Type) is not { } type)
            {
                continue;
            }

            MethodDefinition method = type.Methods.Where(method => method.Name == twin.Method).MaxBy(method => method.Parameters.Count)
                ?? throw new InvalidOperationException($"{twin.Type} has no method {twin.Method}, whose broken twin is wanted.");
            ILProcessor processor = method.Body.GetILProcessor();
            Instruction first = method.Body.Instructions[0];
            List<Instruction> added =
            [
                processor.Create(OpCodes.Ldc_I4, twin.Number), processor.Create(OpCodes.Call, isBroken), processor.Create(OpCodes.Brfalse, first),
            ];
            if (twin.Result is { } result)
            {
                added.Add(result == Twin.FirstArgument ? processor.Create(OpCodes.Ldarg_1)
                    : method.ReturnType.IsValueType ? processor.Create(OpCodes.Ldc_I4, result) : processor.Create(OpCodes.Ldnull));
            }

            added.Add(processor.Create(OpCodes.Ret));
            added.ForEach(instruction => processor.InsertBefore(first, instruction));
        }
    }

    private static IEnumerable<(MethodDefinition Method, Instruction Call)> CallsOf(ModuleDefinition module) =>
        from type in module.GetTypes()
        from method in type.Methods
        where method.HasBody
        from instruction in method.Body.Instructions
        where instruction.OpCode.Code is Code.Call or Code.Callvirt or Code.Newobj or Code.Ldftn && instruction.Operand is MethodReference
        select (method, instruction);

    private static string Signature(MethodReference method) =>
        $"{method.DeclaringType.GetElementType().FullName}::{method.Name}({string.Join(',', method.Parameters.Select(parameter => parameter.ParameterType.FullName))})";
}
